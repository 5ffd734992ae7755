import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import { checkShape } from './check-artifact.ts';
import { contracts } from './contracts.ts';

/** What an example leaves out, so that every field of a contract is there once. */
const OPTIONAL: { readonly [kind: string]: JsonObject } = {
  'wr.assessment': { summary: 'Fair.' },
  'wr.capability_observation': { failureCode: 'tool_error' },
  'wr.workflow_divergence': { relatedStepId: 'survey' },
  'wr.loop_control': { loopId: 'polish', metadata: { rounds: 2 } },
  'wr.discovery_handoff': {
    implementationConstraints: ['No new service.'],
    keyCodebaseLocations: [{ path: 'src/drafts' }],
    selectionTier: 'clear',
  },
  'wr.coding_handoff': { correctedAssumptions: ['Lines are wrapped.'] },
  'wr.investigation_report': { regressionTest: 'test/a.test.ts: red without the fix' },
  'wr.pull_request': { url: 'https://example.com/pull/1' },
  'wr.review_verdict': { struck: ['F2: the caller checks it'] },
  'wr.findings': { mrComments: [{ location: { file: 'a.ts', line: 1 }, title: 'Clock', body: 'Read it once.' }] },
};

/** Objects whose inside is the agent's own. */
const FREE = ['/metadata', '/keyCodebaseLocations/0'];

const closed = contracts.all.filter(({ shape }) => shape['additionalProperties'] === false);

type Change = { readonly path: string; readonly document: JsonObject };

describe('an artifact with one thing changed', () => {
  it.each(closed)(
    'of $artifactKind is refused exactly when its schema refuses it, at the place of the change',
    (each) => {
      const full = { ...each.example, ...OPTIONAL[each.artifactKind] };
      expect(checkShape(each.shape, full).isOk()).toBe(true);
      const declared = Object.keys(each.shape['properties'] as JsonObject);
      expect(declared.filter((field) => !Object.hasOwn(full, field))).toEqual([]);

      let refused = 0;
      for (const { path, document } of changesOf(full)) {
        const result = checkShape(each.shape, document);
        expect(result.isOk(), path + JSON.stringify(document)).toBe(each.schema.safeParse(document).success);
        if (result.isOk()) continue;
        refused += 1;
        expect(result.error.map((violation) => violation.path).filter((found) => !within(found, path))).toEqual([]);
        expect(checkShape(each.shape, reversed(document))._unsafeUnwrapErr(), 'the same in any order').toEqual(
          result.error,
        );
      }
      expect(refused).toBeGreaterThan(20);
    },
  );
});

function within(found: string, path: string): boolean {
  return found === path || found.startsWith(`${path}/`);
}

const WRONG: readonly JsonValue[] = [7.5, -1, 0, true, null, '', 'Zzz', [], {}, [null], { unknown: 1 }];

function changesOf(document: JsonObject): readonly Change[] {
  return placesOf(document).flatMap(({ path, put }) => [
    { path, document: put(undefined) },
    ...WRONG.map((value) => ({ path, document: put(value) })),
  ]);
}

type Put = (value: JsonValue | undefined) => JsonObject;

/** Every field and item, with a way to put something else there; and in every object the place of an unknown field. */
function placesOf(document: JsonObject): readonly { readonly path: string; readonly put: Put }[] {
  const places: { path: string; put: Put }[] = [];
  const visit = (value: JsonValue, path: string, put: (changed: JsonValue) => JsonObject) => {
    if (FREE.includes(path)) return;
    if (isObject(value)) {
      const keep = Object.entries(value);
      for (const [name, inner] of [...keep, ['unknownField', null] as const]) {
        const rest = keep.filter(([other]) => other !== name);
        const putHere: Put = (changed) =>
          put(Object.fromEntries(changed === undefined ? rest : [...rest, [name, changed]]));
        places.push({ path: `${path}/${name}`, put: putHere });
        visit(inner, `${path}/${name}`, putHere);
      }
    }
    if (Array.isArray(value)) {
      const items: readonly JsonValue[] = value;
      items.forEach((inner, i) => {
        const putHere: Put = (changed) => put(items.map((item, j) => (i === j ? (changed ?? null) : item)));
        places.push({ path: `${path}/${i}`, put: putHere });
        visit(inner, `${path}/${i}`, putHere);
      });
    }
  };
  visit(document, '', (changed) => changed as JsonObject);
  return places;
}

function reversed(value: JsonValue): JsonObject {
  const turn = (inner: JsonValue): JsonValue => {
    if (Array.isArray(inner)) return inner.map(turn);
    return isObject(inner)
      ? Object.fromEntries(
          Object.entries(inner)
            .reverse()
            .map(([k, v]) => [k, turn(v)]),
        )
      : inner;
  };
  return turn(value) as JsonObject;
}
