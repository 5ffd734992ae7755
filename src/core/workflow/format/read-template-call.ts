import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import type { StepHead } from './read-step.ts';
import { asObject, checkKeys, field, type Reader, readText, reportError, textOf, wrongType } from './reader.ts';
import type { TemplateStep } from './syntax.ts';

/** `{templateId, args}` beside the id, or inside of `templateCall`. */
export function readTemplateCall(reader: Reader, object: SourceObject, head: StepHead): TemplateStep | undefined {
  const inner = field(object, 'templateCall');
  const call = inner === undefined ? object : asObject(reader, inner, '"templateCall"');
  if (call === undefined) return undefined;
  if (inner !== undefined) checkKeys(reader, call, { keys: KEYS.designCall });
  const templateId = readText(reader, call, { name: 'templateId', bytesMax: TEXT_LIMITS.id, isRequired: true });
  const args = readTextMap(reader, field(call, 'args'), '"args"');
  return templateId === undefined ? undefined : { ...head, kind: 'template', callAt: call.pointer, templateId, args };
}

/** An object of texts; numbers and truth values are taken as their text. */
export function readTextMap(
  reader: Reader,
  node: SourceNode | undefined,
  what: string,
): { readonly [name: string]: string } {
  const object = node && asObject(reader, node, what);
  if (object === undefined) return {};
  const entries = [...object.fields.values()].flatMap(({ name, value }): [string, string][] => {
    if (value.kind === 'number' || value.kind === 'boolean') return [[name, String(value.value)]];
    if (value.kind === 'string') {
      const text = textOf(reader, value, { what: `"${name}"`, bytesMin: 0, bytesMax: TEXT_LIMITS.argument });
      return text === undefined ? [] : [[name, text]];
    }
    reportError(reader, value, wrongType(`"${name}"`, 'a text', value));
    return [];
  });
  return Object.fromEntries(entries);
}
