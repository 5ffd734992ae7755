import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { inspectCopy, type Report, type Tool } from './boundaries/inspect-copy.ts';
import {
  CAUGHT_OUTSIDE_ADAPTERS,
  IMPURE_CORE,
  NON_HOUSE_CODE,
  type PlantedViolation,
  TARGETS,
  WRONG_WAY_IMPORTS,
} from './boundaries/planted-violations.ts';
import { enforces } from './enforces.ts';

const PLANTED = [...IMPURE_CORE, ...WRONG_WAY_IMPORTS, ...CAUGHT_OUTSIDE_ADAPTERS, ...NON_HOUSE_CODE];

describe('the boundaries between layers', () => {
  let reports: readonly Report[] = [];
  beforeAll(() => {
    reports = inspectCopy(fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, ''), [
      ...TARGETS,
      ...PLANTED.map((violation) => ({ ...violation, isHiddenFromCompiler: violation.reports.tsc === undefined })),
    ]);
  }, 240_000);

  it('core cannot use Node, the DOM, the clock, randomness or async code', () => {
    enforces('core_is_pure');
    expect(unseen(IMPURE_CORE)).toEqual([]);
    expect(unplanted()).toEqual([]);
  });

  it('no layer can import a layer above or beside it', () => {
    enforces('layer_direction', 'console_imports_core_only');
    expect(unseen(WRONG_WAY_IMPORTS)).toEqual([]);
    expect(unplanted()).toEqual([]);
  });

  it('only an adapter can catch an exception', () => {
    enforces('try_only_in_adapters');
    expect(unseen(CAUGHT_OUTSIDE_ADAPTERS)).toEqual([]);
    expect(unplanted()).toEqual([]);
  });

  it('code that breaks the house style is refused', () => {
    expect(unseen(NON_HOUSE_CODE)).toEqual([]);
    expect(unplanted()).toEqual([]);
  });

  it('hashing takes canonical bytes: neither a text nor other bytes compile', () => {
    enforces('hash_takes_canonical_bytes_only');
    const hashing = NON_HOUSE_CODE.filter(({ what }) => what.endsWith('hashed'));
    expect(hashing.map(({ path }) => reports.filter((report) => report.path === path))).toEqual(
      hashing.map(({ path }) => [{ tool: 'tsc', path, rule: 'TS2345' }]),
    );
  });

  /** Planted violations that a tool which must report them does not report. */
  function unseen(violations: readonly PlantedViolation[]): readonly string[] {
    return violations.flatMap((violation) => {
      const expected = Object.entries(violation.reports) as [Tool, string][];
      expect(expected.length, violation.what).toBeGreaterThan(0);
      return expected
        .filter(
          ([tool, rule]) =>
            !reports.some((report) => report.tool === tool && report.path === violation.path && report.rule === rule),
        )
        .map(([tool, rule]) => `${violation.what}: ${tool} does not report ${rule}`);
    });
  }

  /** Reports about the program itself. The planted files may be too many for a folder, and too small for a file. */
  function unplanted(): readonly Report[] {
    return reports.filter(
      ({ path, rule }) =>
        rule !== 'folder-size' && rule !== 'no-shreds' && !PLANTED.some((violation) => violation.path === path),
    );
  }
});
