# The Debian package: script/package builds it. Every file that it installs is listed here.
include(GNUInstallDirs)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(package_files ${CMAKE_BINARY_DIR}/package)
file(GLOB package_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/reference/*.md)
execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} log -1 --format=%aD
                OUTPUT_VARIABLE package_date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT package_date)
  string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
set(package_maintainer "Amdahl Loop maintainers <maintainers@amdahl-loop.example>")
configure_file(packaging/changelog.in ${package_files}/changelog @ONLY)

# Not part of `all`: nobody who builds the program to run it from here needs them.
add_custom_target(package_files
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/packaging/man.py ${PROJECT_VERSION}
          ${package_files}/man ${package_pages}
  COMMAND gzip -9nkf ${package_files}/changelog
  COMMAND $<TARGET_FILE:amdahl> completion bash > ${package_files}/amdahl.bash
  COMMAND $<TARGET_FILE:amdahl> completion zsh > ${package_files}/_amdahl
  COMMAND $<TARGET_FILE:amdahl> completion fish > ${package_files}/amdahl.fish
  DEPENDS amdahl VERBATIM)

set(share ${CMAKE_INSTALL_DATADIR}/amdahl)
install(TARGETS amdahl RUNTIME)
install(DIRECTORY ${package_files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        FILES_MATCHING PATTERN "*.1.gz")
install(FILES ${package_files}/amdahl.bash RENAME amdahl
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${package_files}/_amdahl DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${package_files}/amdahl.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${package_files}/changelog.gz RENAME changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/amdahl)
install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/amdahl)
install(FILES packaging/config.toml DESTINATION /etc/amdahl)
install(DIRECTORY integrations/systemd/ DESTINATION /lib/systemd/system
        FILES_MATCHING PATTERN "*.service" PATTERN "*.timer")
install(PROGRAMS packaging/first-minute DESTINATION ${share})
install(DIRECTORY launchers DESTINATION ${share} USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY integrations/skills integrations/prometheus DESTINATION ${share})
install(FILES integrations/grafana/dashboard.json DESTINATION ${share}/grafana)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME amdahl)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${package_maintainer})
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "git, python3, bubblewrap")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "slurm-client, prometheus")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "find wasted accelerator time and prove fixes")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Ranks the jobs of a GPU fleet by idle accelerator time, works out why they
wait, and tests changes with paired A/B runs. Every claimed win is attacked by
a set of checks, a person approves it, and every verdict is recorded in an
append-only ledger.
.
Start with: amdahl tune -- COMMAND")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/postinst
    ${CMAKE_SOURCE_DIR}/packaging/prerm ${CMAKE_SOURCE_DIR}/packaging/postrm
    ${CMAKE_SOURCE_DIR}/packaging/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
