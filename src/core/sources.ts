import * as z from 'zod';

/** Names a source on the command line and its folder on disk. */
const sourceNameSchema = z.string().regex(/^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/);

const name = { name: sourceNameSchema };

/** A folder inside of a source; it never leads out. */
const innerFolder = z
  .string()
  .min(1)
  .max(512)
  .refine((path) => isInnerPath(path), { error: 'a folder inside of the source, without . or ..' });

export const workflowSourceEntrySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('git'),
    ...name,
    url: z.string().min(1).max(2048),
    /** The branch or tag that `update` follows. */
    ref: z.string().min(1).max(256).exactOptional(),
    /** Nothing else of the repository is ever used. */
    commit: z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/),
    folder: innerFolder,
  }),
  z.strictObject({ kind: z.literal('folder'), ...name, path: z.string().min(1).max(4096) }),
  z.strictObject({
    kind: z.literal('package'),
    ...name,
    package: z.string().min(1).max(214),
    /** The folder whose node_modules it is looked for in, and in those above. */
    from: z.string().min(1).max(4096),
  }),
]);
export type WorkflowSourceEntry = z.infer<typeof workflowSourceEntrySchema>;
export type GitSource = Extract<WorkflowSourceEntry, { kind: 'git' }>;
export type PackageSource = Extract<WorkflowSourceEntry, { kind: 'package' }>;

/** The file that says which sources there are. */
export const sourceListSchema = z.strictObject({
  v: z.literal(1),
  sources: z
    .array(workflowSourceEntrySchema)
    .max(64)
    .refine((sources) => new Set(sources.map((one) => one.name)).size === sources.length, {
      error: 'every source has a name of its own',
    }),
});

function isInnerPath(path: string): boolean {
  if (path === '.') return true;
  return path.split('/').every((part) => /^[\w@+ -][\w.@+ -]*$/.test(part) && part !== '.git');
}
