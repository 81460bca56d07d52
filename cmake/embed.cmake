# amdahl_embed(<target> <symbol> <base-dir> <files...>): the bytes of the files in the program.
#
# g++ 12 has no #embed: the bytes go in with .incbin. The program sees
# `embedded_<symbol>()`, which its room declares; paths are relative to <base-dir>.
function(amdahl_embed target symbol base)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embed_${symbol})
  file(MAKE_DIRECTORY ${out})
  set(asm "    .section .rodata\n")
  set(externs "")
  set(rows "")
  set(n 0)
  foreach(f ${ARGN})
    file(RELATIVE_PATH path ${base} ${f})
    string(APPEND asm "    .global ${symbol}_a${n}\n    .global ${symbol}_e${n}\n${symbol}_a${n}:\n    .incbin \"${f}\"\n${symbol}_e${n}:\n    .byte 0\n")
    string(APPEND externs "extern const char ${symbol}_a${n}[], ${symbol}_e${n}[];\n")
    string(APPEND rows "    {\"${path}\", {${symbol}_a${n}, static_cast<std::size_t>(${symbol}_e${n} - ${symbol}_a${n})}},\n")
    math(EXPR n "${n}+1")
  endforeach()
  string(APPEND asm "    .section .note.GNU-stack,\"\",%progbits\n")
  file(GENERATE OUTPUT ${out}/assets.S CONTENT "${asm}")
  file(GENERATE OUTPUT ${out}/assets.cc CONTENT
"#include \"base/embedded.h\"\nextern \"C\" {\n${externs}}\nnamespace amdahl {\nstd::span<const Embedded> embedded_${symbol}() {\n  static const Embedded kFiles[] = {\n${rows}  };\n  return kFiles;\n}\n}  // namespace amdahl\n")
  set_source_files_properties(${out}/assets.S PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_sources(${target} PRIVATE ${out}/assets.S ${out}/assets.cc)
endfunction()
