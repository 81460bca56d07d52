#include "cli/cli.h"

int main(int argc, char** argv) { return amdahl::cli::run({argv + 1, argv + argc}); }
