import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { err, ok, Result } from 'neverthrow';
import * as z from 'zod';
import type { BundleOutput, SealFailure } from '../app/ports/bundle-output.ts';

/** The first bytes of an encrypted bundle. A line of JSON follows, then the ciphertext, then its tag. */
const MAGIC = Buffer.from('workrail encrypted bundle\n');
const NEWLINE = 0x0a;
const HEADER_BYTES_MAX = 1_024;
const [KEY_BYTES, SALT_BYTES, IV_BYTES, TAG_BYTES] = [32, 16, 12, 16];

type Cost = { readonly N: number; readonly r: number; readonly p: number };

/** Takes about half a second and 128 MiB, for a reader as for somebody who guesses. */
const COST: Cost = { N: 2 ** 17, r: 8, p: 1 };
/** A header from elsewhere may not ask for more memory or time than this. */
const COST_MAX: Cost = { N: 2 ** 18, r: 8, p: 4 };

const base64Of = (bytes: number) =>
  z
    .base64()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine(({ length }) => length === bytes);

const headerSchema = z.strictObject({
  version: z.literal(1),
  cipher: z.literal('aes-256-gcm'),
  kdf: z.strictObject({
    name: z.literal('scrypt'),
    N: z
      .int()
      .min(2 ** 14)
      .max(COST_MAX.N),
    r: z.int().min(1).max(COST_MAX.r),
    p: z.int().min(1).max(COST_MAX.p),
    salt: base64Of(SALT_BYTES),
  }),
  iv: base64Of(IV_BYTES),
});

/** Whether a file is an encrypted bundle. */
export function isSealed(bytes: Uint8Array): boolean {
  return MAGIC.equals(bytes.subarray(0, MAGIC.length));
}

/** Encrypts everything that is written. The header is part of what the tag proves. */
export async function sealOutput(output: BundleOutput, passphrase: string, cost: Cost = COST): Promise<BundleOutput> {
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(IV_BYTES)];
  const kdf = { name: 'scrypt', ...cost, salt: salt.toString('base64') };
  const line = JSON.stringify({ version: 1, cipher: 'aes-256-gcm', kdf, iv: iv.toString('base64') });
  const header = Buffer.concat([MAGIC, Buffer.from(`${line}\n`)]);
  const cipher = createCipheriv('aes-256-gcm', await keyOf(passphrase, salt, cost), iv);
  cipher.setAAD(header);
  let isBegun = false;
  const begin = async () => {
    if (isBegun) return ok<void, never>(undefined);
    isBegun = true;
    return output.write(header);
  };
  return {
    write: async (bytes) => {
      const begun = await begin();
      return begun.isErr() ? begun : output.write(cipher.update(bytes));
    },
    finish: async () => {
      const begun = await begin();
      if (begun.isErr()) return begun;
      const ended = await output.write(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
      return ended.isErr() ? ended : output.finish();
    },
    abandon: output.abandon,
  };
}

/** The bundle in an encrypted file. A wrong passphrase and a changed file cannot be told apart. */
export async function openSealed(bytes: Uint8Array, passphrase: string): Promise<Result<Uint8Array, SealFailure>> {
  const lineEnd = bytes.subarray(0, MAGIC.length + HEADER_BYTES_MAX).indexOf(NEWLINE, MAGIC.length);
  if (!isSealed(bytes) || lineEnd < 0) return err({ code: 'seal_unknown' });
  const read = parse(Buffer.from(bytes.subarray(MAGIC.length, lineEnd)).toString()).map((value) =>
    headerSchema.safeParse(value),
  );
  const header = read.isOk() ? read.value.data : undefined;
  const body = bytes.subarray(lineEnd + 1);
  if (header === undefined || body.length < TAG_BYTES) return err({ code: 'seal_unknown' });
  const { kdf, iv } = header;
  const key = await keyOf(passphrase, kdf.salt, kdf);
  return decrypt({ key, iv, header: bytes.subarray(0, lineEnd + 1), body });
}

type Sealed = {
  readonly key: Buffer;
  readonly iv: Buffer;
  readonly header: Uint8Array;
  readonly body: Uint8Array;
};

const parse = Result.fromThrowable(
  (text: string): unknown => JSON.parse(text),
  () => undefined,
);

const decrypt = Result.fromThrowable(
  ({ key, iv, header, body }: Sealed): Uint8Array => {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(header);
    decipher.setAuthTag(body.subarray(-TAG_BYTES));
    const content = decipher.update(body.subarray(0, -TAG_BYTES));
    return Buffer.concat([content, decipher.final()]);
  },
  (): SealFailure => ({ code: 'passphrase_wrong' }),
);

function keyOf(passphrase: string, salt: Buffer, { N, r, p }: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // One person may type the same letters in another Unicode form.
    const options = { N, r, p, maxmem: 2 * 128 * N * r };
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, options, (failure, key) =>
      failure === null ? resolve(key) : reject(failure),
    );
  });
}
