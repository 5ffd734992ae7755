/** What may be said on any command line. */
export type Switches = {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  readonly isColorless: boolean;
};

/** In the order help shows them. */
export const SWITCHES = {
  '--json': 'print one JSON document instead of text, errors too',
  '--quiet': 'say nothing on standard error but errors',
  '--verbose': 'tell more',
  '--no-color': 'no colours (NO_COLOR does the same)',
} as const;

type CommandLine = { readonly switches: Switches; readonly words: readonly string[] };

/** Takes the switches out of a command line, wherever they stand before a `--`. */
export function readSwitches(argv: readonly string[]): CommandLine {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const head = argv.slice(0, end);
  const has = (name: keyof typeof SWITCHES) => head.includes(name);
  return {
    switches: {
      isJson: has('--json'),
      isQuiet: has('--quiet'),
      isVerbose: has('--verbose'),
      isColorless: has('--no-color'),
    },
    words: [...head.filter((word) => !Object.hasOwn(SWITCHES, word)), ...argv.slice(end)],
  };
}
