import * as z from 'zod';
import {
  binData,
  CLIENT_IDS,
  configListData,
  configServersData,
  configSetData,
  doctorData,
  gcData,
  initData,
  keysRotateData,
  keysStatusData,
  listedSourceShape,
  sessionVerifyData,
  settingNameShape,
  sourceListData,
  sourceRemoveData,
  sourceUpdateData,
} from './machine-shapes.ts';
import {
  builtinsData,
  workflowDiffData,
  workflowListData,
  workflowShowData,
  workflowUsesData,
} from './workflow-shapes.ts';

/** A word of a command line. It must not look like an option. */
const word = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[^-\0][^\0]*$/);

const nothing = z.strictObject({});
const days = z.string().regex(/^[1-9]\d{0,4}$/);

/** What the requests that are commands may carry. */
export const COMMAND_INPUTS = {
  workflows: nothing,
  workflow: z.strictObject({ id: word }),
  uses: z.strictObject({ id: word }),
  /** Ids of workflows, or hashes of versions that runs use. */
  versions: z.strictObject({ a: word, b: word }),
  builtins: nothing,
  settings: nothing,
  /** Without a value, the setting is removed from the file of the user or of the project. */
  setSetting: z.strictObject({
    key: settingNameShape,
    value: word.exactOptional(),
    scope: z.enum(['user', 'project']),
  }),
  servers: nothing,
  sources: nothing,
  addSource: z.strictObject({
    address: word,
    name: word.exactOptional(),
    ref: word.exactOptional(),
    folder: word.exactOptional(),
  }),
  removeSource: z.strictObject({ name: word }),
  updateSource: z.strictObject({
    name: word,
    isDry: z.boolean().exactOptional(),
    isForced: z.boolean().exactOptional(),
  }),
  registrations: nothing,
  undoable: nothing,
  register: z.strictObject({ client: z.enum(CLIENT_IDS), isForced: z.boolean().exactOptional() }),
  unregister: z.strictObject({ client: z.enum(CLIENT_IDS) }),
  doctor: nothing,
  fix: nothing,
  storage: z.strictObject({ days: days.exactOptional() }),
  collect: z.strictObject({ days, isBinEmptied: z.boolean().exactOptional() }),
  bin: nothing,
  verify: nothing,
  keys: nothing,
  rotateKeys: nothing,
} as const;

export type CommandPath = keyof typeof COMMAND_INPUTS;

/** What they are answered: the `data` that the command prints with `--json`. */
export const COMMAND_REPLIES = {
  workflows: workflowListData,
  workflow: workflowShowData,
  uses: workflowUsesData,
  versions: workflowDiffData,
  builtins: builtinsData,
  settings: configListData,
  setSetting: configSetData,
  servers: configServersData,
  sources: sourceListData,
  addSource: listedSourceShape,
  removeSource: sourceRemoveData,
  updateSource: sourceUpdateData,
  registrations: initData,
  undoable: initData,
  register: initData,
  unregister: initData,
  doctor: doctorData,
  fix: doctorData,
  storage: gcData,
  collect: gcData,
  bin: binData,
  verify: sessionVerifyData,
  keys: keysStatusData,
  rotateKeys: keysRotateData,
} as const satisfies { readonly [path in CommandPath]: z.ZodType };

export type RequestInput<Path extends CommandPath> = z.input<(typeof COMMAND_INPUTS)[Path]>;
