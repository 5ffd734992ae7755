import { err, type Result } from 'neverthrow';
import type * as z from 'zod';
import { assert } from '../../assert.ts';
import { parseDocument } from '../../log/parse-document.ts';
import type { BundleIndex } from '../bundle-index.ts';
import { type BundleRefusal, invalid } from '../bundle-refusal.ts';
import type { BundleTools } from '../bundle-tools.ts';

/** One of the single values of a bundle, which must be there. */
export function readBundleValue<Schema extends z.ZodType>(
  { bytes, values }: BundleIndex,
  path: string,
  { schema, tools }: { readonly schema: Schema; readonly tools: BundleTools },
): Result<z.infer<Schema>, BundleRefusal> {
  const span = values.get(path);
  assert(span !== undefined, `an index without ${path} is none`);
  const value = tools.parseJson(bytes.subarray(...span));
  if (value.isErr()) return err({ ...invalid(value.error, path), offset: span[0] });
  return parseDocument(schema, value.value).mapErr((refusal) => invalid('wrong_shape', `${path}${refusal.path}`));
}
