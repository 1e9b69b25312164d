# SPDX-License-Identifier: MIT
#
# Defines tinyattn::tinyattn, the headers, and tinyattn::compiled, the compiled library. A file that
# includes this one first sets tinyattn_headers, the folders of headers; tinyattn_sources, the folder
# of the library; tinyattn_priority_list, the list of ports.
add_library(tinyattn INTERFACE)
add_library(tinyattn::tinyattn ALIAS tinyattn)
target_include_directories(tinyattn INTERFACE ${tinyattn_headers})
if(tinyattn_project_has_cxx)
  target_compile_features(tinyattn INTERFACE cxx_std_20)
endif()

# The library is built only if something links to it, and is always optimized: at -O0 it takes 800
# times as long. Firmware may choose a level; where the library holds every port, it is the objects
# that Meson builds, at -O2.
add_library(tinyattn_compiled STATIC EXCLUDE_FROM_ALL)
add_library(tinyattn::compiled ALIAS tinyattn_compiled)
target_link_libraries(tinyattn_compiled PUBLIC tinyattn)
set_target_properties(tinyattn_compiled PROPERTIES LINKER_LANGUAGE CXX)
set(tinyattn_has_level $<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>,$<CONFIG:MinSizeRel>>)
set(tinyattn_level $<$<NOT:${tinyattn_has_level}>:-O2>)
set(tinyattn_holds_every_port OFF)
set(tinyattn_choice "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(tinyattn_level -O2)
  set(tinyattn_holds_every_port ON)
endif()

# tinyattn_add_unit(NAME SOURCE FLAG...): adds an object to the library.
function(tinyattn_add_unit name source)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${tinyattn_sources}/${source})
  target_link_libraries(${name} PRIVATE tinyattn)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti ${tinyattn_level} ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ${tinyattn_holds_every_port})
  target_sources(tinyattn_compiled PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

# tinyattn_add_port(PORT FLAG...): adds the object of a port, compiled with these flags.
function(tinyattn_add_port port)
  string(REPLACE ";" "\",\"" asked "${ARGN}")
  set(asked "$<$<BOOL:${ARGN}>:\"${asked}\">")
  tinyattn_add_unit(tinyattn_${port} port.cpp ${ARGN} -UTINYATTN_PORT -DTINYATTN_PORT=${port}
    -DTINYATTN_FLAGS=library_${port} -DTINYATTN_ASKED=${asked})
endfunction()

if(tinyattn_holds_every_port)
  # Every port of the priority list, as priorities.py reads it for Meson, and after them the scalar one.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tinyattn_priority_list})
  file(STRINGS ${tinyattn_priority_list} tinyattn_lines
    REGEX "^// (on|anywhere)|^#define TINYATTN_PORT [a-z]")
  set(tinyattn_ports "")
  list(APPEND tinyattn_lines "// anywhere" "#define TINYATTN_PORT scalar")
  foreach(tinyattn_line IN LISTS tinyattn_lines)
    if(NOT tinyattn_line MATCHES "^#define TINYATTN_PORT ([a-z0-9_]+)$")
      set(tinyattn_places "${tinyattn_line}")
      continue()
    endif()
    set(tinyattn_port ${CMAKE_MATCH_1})
    if(tinyattn_places MATCHES "(on x86_64|anywhere( else)?)( with ([^,]+))?")
      string(REPLACE " " ";" tinyattn_flags "${CMAKE_MATCH_4}")
      tinyattn_add_port(${tinyattn_port} ${tinyattn_flags})
      string(APPEND tinyattn_ports "TINYATTN_EACH_PORT(${tinyattn_port})")
    endif()
  endforeach()
  tinyattn_add_unit(tinyattn_choose choose.cpp -DTINYATTN_PORTS=${tinyattn_ports})
  set(tinyattn_choice -DTINYATTN_PORTS=${tinyattn_ports})
endif()
tinyattn_add_unit(tinyattn_attention attention.cpp ${tinyattn_choice})
tinyattn_add_unit(tinyattn_encoder encoders.cpp ${tinyattn_choice})
tinyattn_add_unit(tinyattn_models models.cpp ${tinyattn_choice})
tinyattn_add_unit(tinyattn_int8 int8.cpp ${tinyattn_choice})
tinyattn_add_unit(tinyattn_primitives primitives.cpp ${tinyattn_choice})
