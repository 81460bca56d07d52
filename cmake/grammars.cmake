# amdahl_grammar(<name>): the tree-sitter grammar <name> as the library grammar_<name>.
#
# Grammars are C sources that npm brings into grammars/node_modules (script/bootstrap does it); no
# JavaScript of theirs is run. They are tables made by a generator: our warnings do not apply.
function(amdahl_grammar name)
  set(folder ${CMAKE_SOURCE_DIR}/grammars/node_modules/tree-sitter-${name}/src)
  if(NOT EXISTS ${folder}/parser.c)
    message(FATAL_ERROR "The grammar for ${name} is not there (${folder}): run ./script/bootstrap, "
                        "or by hand: cd grammars && npm ci --ignore-scripts")
  endif()
  add_library(grammar_${name} STATIC ${folder}/parser.c ${folder}/scanner.c)
  target_include_directories(grammar_${name} PRIVATE ${folder})
  # In place of the folder's own, which are for our code: warnings, sanitizers, another compiler's.
  set_target_properties(grammar_${name} PROPERTIES COMPILE_OPTIONS "-w;-O1")
endfunction()

amdahl_grammar(python)
amdahl_grammar(cpp)
