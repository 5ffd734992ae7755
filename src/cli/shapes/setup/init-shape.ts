import * as z from 'zod';
import { CLIENT_IDS } from '../../../app/clients/client.ts';
import { commandShape } from '../../command-shape.ts';

const clientResult = z.strictObject({
  client: z.enum(CLIENT_IDS),
  name: z.string(),
  scope: z.enum(['user', 'project']),
  file: z.string(),
  result: z.enum([
    'registered',
    /** An entry that started something else was replaced. */
    'replaced',
    'unchanged',
    /** What would be done; nothing was. */
    'planned',
    /** An entry that starts something else was left. */
    'kept',
    'broken',
    'unreadable',
    'failed',
    /** Undone: as it was, to the byte. */
    'restored',
    /** Undone: there was no file, so there is none again. */
    'removed',
    /** Undone: somebody changed the file since, so only our entry was taken out. */
    'taken_out',
    /** There was nothing left to undo. */
    'nothing',
  ]),
  /** Whether the client's own command did it, or the file was edited. */
  via: z.enum(['command', 'file']).exactOptional(),
  /** The client's own command that would be run. */
  command: z.string().exactOptional(),
  /** Where what the file held is kept. */
  backup: z.string().exactOptional(),
  /** The line of a broken file. */
  line: z.int().exactOptional(),
  problem: z.string().exactOptional(),
  diff: z.array(z.string()).exactOptional(),
});
export type ClientResult = z.infer<typeof clientResult>;

const initData = z.strictObject({
  action: z.enum(['register', 'undo']),
  isDryRun: z.boolean(),
  clients: z.array(clientResult),
});
export type InitData = z.infer<typeof initData>;

/** What `workrail init --json` prints. */
export const initShape = commandShape('init', initData);
