# SPDX-License-Identifier: MIT
#
# A stand-in for the build system of ESP-IDF, as its documentation describes it: the components of a project are its main, those in
# components/, and those that main's manifest names; a component is a library, and links those that it requires. Main requires all if it
# names none. Given: BOARD_SOURCES and LIBRARIES, with which a program ends.
#
# https://docs.espressif.com/projects/esp-idf/en/stable/esp32/api-guides/build-system.html
enable_language(C CXX)
set(CMAKE_C_STANDARD 17)

function(idf_component_register)
  cmake_parse_arguments(PARSE_ARGV 0 component "" "" "SRCS;INCLUDE_DIRS;PRIV_INCLUDE_DIRS;REQUIRES;PRIV_REQUIRES")
  if(component_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "idf_component_register does not know ${component_UNPARSED_ARGUMENTS}")
  endif()
  add_library(${COMPONENT_LIB} STATIC ${component_SRCS})
  target_compile_options(${COMPONENT_LIB} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-std=gnu++2b>)
  target_include_directories(${COMPONENT_LIB} PUBLIC ${component_INCLUDE_DIRS} PRIVATE ${component_PRIV_INCLUDE_DIRS}
    ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL PROPERTY idf_requires_of_${COMPONENT_LIB} ${component_REQUIRES} ${component_PRIV_REQUIRES})
endfunction()

function(link_components library)
  get_property(required GLOBAL PROPERTY idf_requires_of_${library})
  if(library STREQUAL __idf_main AND NOT required)
    get_property(required GLOBAL PROPERTY idf_components)
  endif()
  foreach(name IN LISTS required)
    if(NOT TARGET __idf_${name})
      message(FATAL_ERROR "${library} requires ${name}, and there is no such component")
    endif()
    target_link_libraries(${library} PUBLIC __idf_${name})
  endforeach()
endfunction()

# Sets `found` to the folders that a manifest's dependencies have as override_path.
function(read_overrides manifest found)
  file(STRINGS ${manifest} lines REGEX "override_path:")
  get_filename_component(folder ${manifest} DIRECTORY)
  set(folders "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*override_path: *\"?([^\" ]+).*" "\\1" path "${line}")
    get_filename_component(path ${path} ABSOLUTE BASE_DIR ${folder})
    list(APPEND folders ${path})
  endforeach()
  set(${found} ${folders} PARENT_SCOPE)
endfunction()

# In place of CMake's own, as ESP-IDF does it.
macro(project name)
  _project(${name} C CXX)
  set(managed "")
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/main/idf_component.yml)
    read_overrides(${CMAKE_CURRENT_SOURCE_DIR}/main/idf_component.yml managed)
  endif()
  file(GLOB own ${CMAKE_CURRENT_SOURCE_DIR}/components/*)
  foreach(folder IN LISTS managed own)
    get_filename_component(component ${folder} NAME)
    set_property(GLOBAL APPEND PROPERTY idf_components ${component})
    set(COMPONENT_LIB __idf_${component})
    add_subdirectory(${folder} components/${component})
  endforeach()
  set(COMPONENT_LIB __idf_main)
  add_subdirectory(main)
  get_property(components GLOBAL PROPERTY idf_components)
  foreach(component IN LISTS components ITEMS main)
    link_components(__idf_${component})
  endforeach()
  add_executable(${name}.elf ${BOARD_SOURCES})
  target_link_libraries(${name}.elf PRIVATE __idf_main ${LIBRARIES})
endmacro()
