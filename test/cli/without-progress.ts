// biome-ignore lint/suspicious/noControlCharactersInRegex: these clear a line of the terminal.
const IN_TERMINAL = /\r\u001b\[K(?:[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏█░][^\r\n]*)?/g;
const PLAIN_LINE = /^.*(?: …|: \d+ of \d+)\n/gm;

/** What a command said, without what only a slow machine gets to see: what the command is doing. */
export function withoutProgress(talk: string): string {
  return talk.replaceAll(IN_TERMINAL, '').replaceAll(PLAIN_LINE, '');
}
