import type { SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import {
  asObject,
  checkKeys,
  field,
  type Reader,
  readFlag,
  readText,
  readTexts,
  reportError,
  reportMissing,
} from './reader.ts';
import type { OutputSyntax } from './syntax.ts';

/** What a step must hand in. Hints without a contract are guidance. */
export type StepOutputSyntax = { readonly output?: OutputSyntax; readonly hints: readonly string[] };

/** `outputContract {contractRef, required}` or `output {contractRef, hints}`. */
export function readOutput(reader: Reader, object: SourceObject): StepOutputSyntax {
  const published = field(object, 'outputContract');
  const design = field(object, 'output');
  if (published !== undefined && design !== undefined) {
    const message = '"output" and "outputContract" say the same in two spellings. Keep one of them.';
    reportError(reader, design, { code: 'wrong_value', message });
  }
  const node = published ?? design;
  const written = node && asObject(reader, node, 'An output contract');
  if (written === undefined) return { hints: [] };
  checkKeys(reader, written, { keys: KEYS.output });
  const contractRef = readText(reader, written, { name: 'contractRef', bytesMax: TEXT_LIMITS.id });
  const isRequired = readFlag(reader, written, 'required') ?? true;
  const hints = readTexts(reader, written, { name: 'hints', bytesMax: TEXT_LIMITS.hint });
  if (contractRef !== undefined) return { output: { at: written.pointer, contractRef, isRequired, hints }, hints: [] };
  const isHintOnly = node === design && written.fields.has('hints');
  if (!written.fields.has('contractRef') && !isHintOnly) reportMissing(reader, written, 'contractRef');
  return { hints };
}
