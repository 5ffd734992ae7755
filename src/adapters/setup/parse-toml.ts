import { err, ok } from 'neverthrow';
import { parse, TomlError } from 'smol-toml';
import type { ParseToml } from '../../app/clients/edit/toml-editor.ts';

/** TOML by a library that throws where it ends. */
export const parseToml: ParseToml = (text) => {
  try {
    return ok(parse(text.replace(/^\uFEFF/, '')));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [first = ''] = cause.message.split('\n');
    return err({ line: cause.line, problem: `this is not TOML (${first.replace(/^Invalid TOML document: /, '')})` });
  }
};
