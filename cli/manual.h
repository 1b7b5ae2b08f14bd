/* The manual pages, from the option tables: 'stonet help --man [COMMAND]' prints one, and the build all. */
#pragma once

/* To stdout, in the language of man(7); NULL: of the program. Gives an exit status. */
int manual_print(const char *name);
