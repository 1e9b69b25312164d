# SPDX-License-Identifier: MIT
#
# A stand-in for Zephyr's CMake package: the options of prj.conf, the application `app`, the module, and the functions that modules call.
# Given: MODULE, the module's folder; DOT_CONFIG, the options; BOARD_SOURCES and LIBRARIES, with which a program ends.
#
# https://docs.zephyrproject.org/latest/build/cmake/index.html
enable_language(C CXX)

file(STRINGS ${DOT_CONFIG} options REGEX "^CONFIG_[A-Z0-9_]+=")
foreach(option IN LISTS options)
  string(REGEX MATCH "^(CONFIG_[A-Z0-9_]+)=(.*)$" option "${option}")
  set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

add_library(zephyr_interface INTERFACE)
if(CONFIG_STD_CPP20)
  target_compile_options(zephyr_interface INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-std=c++20>)
endif()
add_executable(app ${BOARD_SOURCES})
target_link_libraries(app PRIVATE zephyr_interface ${LIBRARIES})

function(zephyr_include_directories)
  target_include_directories(zephyr_interface INTERFACE ${ARGV})
endfunction()

macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC)
  target_link_libraries(${name} PUBLIC zephyr_interface)
  target_link_libraries(app PRIVATE ${name})
endmacro()

function(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGV})
endfunction()

function(zephyr_library_sources_ifdef option)
  if(${${option}})
    zephyr_library_sources(${ARGN})
  endif()
endfunction()

# Where its module.yml says that its CMakeLists.txt lies.
file(STRINGS ${MODULE}/zephyr/module.yml place REGEX "^  cmake: ")
string(REGEX REPLACE "^  cmake: " "" place "${place}")
add_subdirectory(${MODULE}/${place} module)
