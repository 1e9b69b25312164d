/* SPDX-License-Identifier: MIT
 *
 * What ESP-IDF does when it has started: it calls the application. */
void app_main(void);

int main(void) {
  app_main();
  return 0;
}
