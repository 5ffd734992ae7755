import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/adapters/postgres-store/database.ts';
import { migrate, pendingMigrations } from '../../src/adapters/postgres-store/migrations.ts';
import { postgresStore } from '../../src/adapters/postgres-store/postgres-store.ts';
import { sha256 } from '../examples/sha256.ts';
import { startPostgres, type TestPostgres } from '../postgres.ts';
import { storeContract } from './store.contract.ts';

const postgres: TestPostgres | undefined = await startPostgres();

describe.runIf(postgres)('a store on PostgreSQL', () => {
  let database: Database;
  let spaces = 0;

  beforeAll(async () => {
    database = openDatabase({ url: postgres?.url ?? '' });
    const steps = (await migrate(database, { isDryRun: false }))._unsafeUnwrap();
    expect(steps.length).toBeGreaterThan(0);
    // Every test has a space of its own.
    await database.run(
      { name: 'spaces', text: 'insert into wr.space (name) select i::text from generate_series(1, 400) i' },
      [],
    );
  });
  afterAll(async () => {
    await database.close();
    await postgres?.stop();
  });

  it('a migrated database has nothing left to migrate', async () => {
    expect((await pendingMigrations(database))._unsafeUnwrap()).toEqual([]);
    expect((await migrate(database, { isDryRun: false }))._unsafeUnwrap()).toEqual([]);
  });

  storeContract(() => {
    spaces += 1;
    const parts = { database, spaceId: spaces, sha256, masterKey: () => Buffer.alloc(32, 7) };
    return { store: postgresStore(parts), again: () => postgresStore(parts) };
  });
});
