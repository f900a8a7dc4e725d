/** Parses the command line. With `--help` it prints the usage and exits with 0; if parsing fails, it prints the usage and exits with 2. */
export function explainUsage<Parsed>(usage: string, parse: () => Parsed): Parsed {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parse();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}
