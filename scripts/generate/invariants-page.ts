import type { Claim, Invariant } from '../../test/invariants/audit.ts';
import { BUILT_CAPABILITIES, CAPABILITIES } from '../../test/invariants/capabilities.ts';
import type { Registry } from '../../test/invariants/registry.ts';
import { cell } from './markdown.ts';

/** The registry for readers: every rule and the tests that hold it. */
export function invariantsPage({ rules, claims, audit }: Registry): string {
  const held = rules.length - audit.open.length - audit.orphans.length;
  const sections = CAPABILITIES.flatMap((capability) => {
    const own = rules.filter((rule) => rule.capability === capability);
    const areas = [...new Set(own.map(({ area }) => area))].sort();
    const isBuilt = BUILT_CAPABILITIES.includes(capability);
    return [
      `## ${capability}`,
      isBuilt ? `${own.length} rules; each has a test.` : `${own.length} rules; not built yet.`,
      ...areas.flatMap((area) => [
        `### ${capability}: ${area}`,
        table(
          own.filter((rule) => rule.area === area),
          claims,
        ),
      ]),
    ];
  });
  return `${[
    '# Invariants',
    'Generated from `invariants.json` and the `enforces(…)` calls of the tests by `npm run generate`; do not edit.',
    `${rules.length} rules; ${held} of them belong to finished parts and have a test. A rule may lack a test only while its part is not built.`,
    ...sections,
  ].join('\n\n')}\n`;
}

function table(rules: readonly Invariant[], claims: readonly Claim[]): string {
  const rows = rules.map(({ id, rule }) => {
    const paths = [...new Set(claims.filter((claim) => claim.id === id).map(({ path }) => path))].sort();
    const tests = paths.map((path) => `[${path}](../../${path})`).join('<br>');
    return `| \`${id}\` | ${cell(rule)} | ${tests} |`;
  });
  return ['| Id | Rule | Held by |', '|---|---|---|', ...rows].join('\n');
}
