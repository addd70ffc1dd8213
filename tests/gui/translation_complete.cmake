# SPDX-License-Identifier: GPL-3.0-or-later
# Fails when a text of the sources is missing from a translation, or none of them says it any more.
configure_file(${TS} ${COPY} COPYONLY)
execute_process(COMMAND ${LUPDATE} -I ${ROOT} -silent -no-obsolete -locations none ${ROOT}/app/gui -ts ${COPY}
  RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  message(FATAL_ERROR "lupdate failed: ${failed}")
endif()
file(READ ${COPY} now)
string(REGEX MATCHALL "<source>[^<]*</source>[^<]*<translation type=\"unfinished\"" missing "${now}")
file(STRINGS ${TS} before REGEX "<source>")
file(STRINGS ${COPY} after REGEX "<source>")
list(LENGTH before texts_before)
list(LENGTH after texts_after)
if(missing OR NOT texts_before EQUAL texts_after)
  message(FATAL_ERROR "run ./dev translate; ${texts_before} texts in the file, ${texts_after} in the "
    "sources; without translation: ${missing}")
endif()
