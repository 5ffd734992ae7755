import type { Database, Statement, StoreDatabase } from '../../src/adapters/postgres-store/database.ts';

/** What was sent to a database, by the names of the statements. */
export type SeenStatements = { readonly all: Set<string>; readonly nameless: Set<string> };

/** Statements about no rows of a space. */
const OF_NO_SPACE = ['wr_commit', 'wr_notify', 'wr_read_all_keyrings'];

/** The database, where every statement must name the space, and have it as its first value. */
export function witnessed<Whole extends StoreDatabase = Database>(
  database: Whole,
  spaceId: number,
  { all, nameless }: SeenStatements,
): Whole {
  const see = ({ name, text }: Statement, [first]: readonly unknown[]) => {
    all.add(name);
    const isNamed =
      /\bspace_id = \$1\b|\(space_id,[^)]*\)\s*(?:values \(\$1|select \$1)/.test(text) && first === spaceId;
    if (!isNamed && !OF_NO_SPACE.includes(name)) nameless.add(name);
  };
  return {
    ...database,
    run: (statement, values) => {
      see(statement, values);
      return database.run(statement, values);
    },
    transaction: (work) =>
      database.transaction((held) =>
        work({
          run: (statement, values) => {
            see(statement, values);
            return held.run(statement, values);
          },
        }),
      ),
  };
}
