# amdahl_web(<target>): the dashboard (web/) built, packed into one file and embedded in the target.
#
# Built by npm from what script/bootstrap installs into web/node_modules. Without it the program is
# complete but for the dashboard: `amdahl serve` says so in its place.
function(amdahl_web target)
  set(web ${CMAKE_SOURCE_DIR}/web)
  set(packed ${CMAKE_CURRENT_BINARY_DIR}/dashboard)
  find_program(node node)
  if(node AND EXISTS ${web}/node_modules/vite/bin/vite.js)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/* ${web}/public/*)
    add_custom_command(
      OUTPUT ${packed}
      COMMAND ${node} node_modules/vite/bin/vite.js build --logLevel warn --emptyOutDir --outDir ${packed}-files
      COMMAND ${node} pack.mjs ${packed}-files ${packed}
      DEPENDS ${sources} ${web}/index.html ${web}/pack.mjs ${web}/vite.config.ts ${web}/svelte.config.js
              ${web}/package-lock.json
      WORKING_DIRECTORY ${web} COMMENT "Building the dashboard" VERBATIM)
  else()
    message(WARNING "The dashboard will not be in this build of amdahl serve: node or web/node_modules "
                    "is missing. Run ./script/bootstrap, or by hand: cd web && npm ci --ignore-scripts")
    file(WRITE ${packed} "[]\n")
  endif()
  amdahl_embed(${target} dashboard ${CMAKE_CURRENT_BINARY_DIR} ${packed})
endfunction()
