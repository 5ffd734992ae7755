import { intercept, type Operation } from '../disk/intercept.ts';
import type { Tampering } from './crash-explorer.ts';
import { contentLast, manifestFlushedLate } from './out-of-order.ts';

/** Ways to get the protocol wrong. Each must lose something in some crash. */
export const PROTOCOL_MUTANTS: { readonly [what: string]: Tampering } = {
  'snapshots and artifacts are not flushed': forgetting('sync', /\/(?:snapshots|artifacts)\//),
  'the segment is not flushed': forgetting('sync', /\/events\//),
  'the pinned workflow is not flushed': forgetting('sync', /\/pinned\//),
  'the keyring is not flushed': forgetting('sync', /\/keys\//),
  'the manifest is not flushed': forgetting('sync', /manifest\.jsonl$/),
  'no directory is flushed': forgetting('syncDir', /./),
  'the directory of content is not flushed': forgetting('syncDir', /\/(?:snapshots|artifacts)$/),
  'the directory of segments is not flushed': forgetting('syncDir', /\/events$/),
  'the directory of a session is not flushed': forgetting('syncDir', /\/sessions\/[^/]+$/),
  'the entry of a session is not flushed': forgetting('syncDir', /\/sessions$/),
  'the entries of the data directory are not flushed': forgetting('syncDir', /^\/data$/),
  'the entry of the data directory is not flushed': forgetting('syncDir', /^\/$/),
  'a torn tail is not cut': forgetting('truncate', /manifest\.jsonl$/),
  'the manifest is written before the content': contentLast,
  'an append is acknowledged before the manifest is flushed': manifestFlushedLate,
};

function forgetting(forgotten: Operation['name'], where: RegExp): Tampering {
  return (fs) =>
    intercept(fs, ({ name, path }, run) =>
      name === forgotten && where.test(path) ? (Promise.resolve() as Promise<never>) : run(),
    );
}
