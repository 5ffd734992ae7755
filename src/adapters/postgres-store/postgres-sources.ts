import type { Result } from 'neverthrow';
import * as z from 'zod';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { ChangeMade, SpaceAccess, SpaceSource } from '../../app/ports/team-database.ts';
import { parseJson } from '../../core/json/json-value.ts';
import { gitSourceSchema } from '../../core/sources.ts';
import type { AuditFact } from './access-log.ts';
import { type Rows, type Statement, sql } from './database.ts';

const SOURCES = sql(
  'sources',
  'select source, is_accepted, paths from wr.source where space_id = $1 order by name, is_accepted desc',
);
const TEXTS = sql(
  'source_texts',
  'select source, texts from wr.source where space_id = $1 and is_accepted order by name',
);
const PROPOSE = sql(
  'propose_source',
  `insert into wr.source (space_id, name, is_accepted, source, paths, texts) values ($1, $2, false, $3, $4, $5)
   on conflict (space_id, name, is_accepted) do update
     set source = excluded.source, paths = excluded.paths, texts = excluded.texts returning 1`,
);
/** Only what is still the commit that somebody looked at. */
const ACCEPT = sql(
  'accept_source',
  `with chosen as (
     select source, paths, texts from wr.source
     where space_id = $1 and name = $2 and not is_accepted and source->>'commit' = $3),
   gone as (delete from wr.source using chosen where space_id = $1 and name = $2 and not is_accepted)
   insert into wr.source (space_id, name, is_accepted, source, paths, texts)
   select $1, $2, true, source, paths, texts from chosen
   on conflict (space_id, name, is_accepted) do update
     set source = excluded.source, paths = excluded.paths, texts = excluded.texts returning 1`,
);
const REMOVE = sql('remove_source', 'delete from wr.source where space_id = $1 and name = $2 returning 1');

const textsSchema = z.array(z.strictObject({ path: z.string(), text: z.string() }));

type Run = (statement: Statement, ...values: readonly unknown[]) => Promise<Result<Rows, StoreFailure>>;
type Changed = (
  change: { readonly statement: Statement; readonly values: readonly unknown[] },
  fact: AuditFact,
  made: ChangeMade,
) => Promise<Result<boolean, StoreFailure>>;

type SourceAccess = Pick<SpaceAccess, 'sources' | 'sourceTexts' | 'proposeSource' | 'acceptSource' | 'removeSource'>;

/** The repositories of a space. Their texts are in the database, so servers need neither git nor the network for them. */
export function postgresSources(read: Run, changed: Changed): SourceAccess {
  return {
    sources: async () =>
      (await read(SOURCES)).map((rows) =>
        rows.map(
          (row): SpaceSource => ({
            source: gitSourceSchema.parse(row['source']),
            isAccepted: row['is_accepted'] === true,
            files: z.array(z.string()).parse(row['paths']),
          }),
        ),
      ),
    sourceTexts: async () =>
      (await read(TEXTS)).map((rows) =>
        rows.map((row) => ({
          source: gitSourceSchema.parse(row['source']),
          texts: textsSchema.parse(parseJson((row['texts'] as Buffer).toString('utf8')).unwrapOr(undefined)),
        })),
      ),
    proposeSource: async (source, texts, made) => {
      const paths = texts.map(({ path }) => path);
      const values = [source.name, JSON.stringify(source), JSON.stringify(paths), Buffer.from(JSON.stringify(texts))];
      const fact = { action: 'source_proposed', subject: `${source.name}@${source.commit} ${source.url}` } as const;
      return (await changed({ statement: PROPOSE, values }, fact, made)).map(() => undefined);
    },
    acceptSource: ({ name, commit }, made) =>
      changed(
        { statement: ACCEPT, values: [name, commit] },
        { action: 'source_accepted', subject: `${name}@${commit}` },
        made,
      ),
    removeSource: (name, made) =>
      changed({ statement: REMOVE, values: [name] }, { action: 'source_removed', subject: name }, made),
  };
}
