# SPDX-License-Identifier: MIT
#
# A stand-in for the build system of ESP-IDF, as its documentation describes it: the components of a project are its main and those
# that main's manifest names; a component is a library. Given: BOARD_SOURCES and LIBRARIES, with which a program ends.
#
# https://docs.espressif.com/projects/esp-idf/en/stable/esp32/api-guides/build-system.html
enable_language(C CXX)
set(CMAKE_C_STANDARD 17)
set(idf_components "")

function(idf_component_register)
  cmake_parse_arguments(PARSE_ARGV 0 component "" "" "SRCS;INCLUDE_DIRS;PRIV_INCLUDE_DIRS;REQUIRES;PRIV_REQUIRES")
  if(component_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "idf_component_register does not know ${component_UNPARSED_ARGUMENTS}")
  endif()
  add_library(${COMPONENT_LIB} STATIC ${component_SRCS})
  target_compile_options(${COMPONENT_LIB} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-std=gnu++2b>)
  target_include_directories(${COMPONENT_LIB} PUBLIC ${component_INCLUDE_DIRS} PRIVATE ${component_PRIV_INCLUDE_DIRS}
    ${CMAKE_CURRENT_SOURCE_DIR})
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
  read_overrides(${CMAKE_CURRENT_SOURCE_DIR}/main/idf_component.yml managed)
  foreach(folder IN LISTS managed)
    set(COMPONENT_LIB __idf_managed)
    add_subdirectory(${folder} managed)
  endforeach()
  set(COMPONENT_LIB __idf_main)
  add_subdirectory(main)
  target_link_libraries(__idf_main PUBLIC __idf_managed)
  add_executable(${name}.elf ${BOARD_SOURCES})
  target_link_libraries(${name}.elf PRIVATE __idf_main ${LIBRARIES})
endmacro()
