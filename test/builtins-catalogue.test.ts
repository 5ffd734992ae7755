import { describe, expect, it } from 'vitest';
import { builtinsCatalogue, builtinsPage } from '../scripts/generate/builtins.ts';
import { contracts } from '../src/core/workflow/builtins/contracts.ts';
import { features } from '../src/core/workflow/builtins/features.ts';
import { refs } from '../src/core/workflow/builtins/refs.ts';
import { templates } from '../src/core/workflow/builtins/templates.ts';
import { enforces } from './enforces.ts';

describe('the catalogue of built-ins', () => {
  it('the catalogue contains every built-in as the compiler uses it, and nothing else', () => {
    enforces('builtins_registry_generated');
    const catalogue = JSON.parse(builtinsCatalogue()) as { readonly [kind: string]: readonly object[] };
    expect(Object.keys(catalogue)).toEqual(['contracts', 'features', 'refs', 'templates']);
    expect(catalogue['contracts']).toEqual(
      contracts.all.map(({ schema: _, lead: __, shape, ...contract }) => ({ ...contract, schema: shape })),
    );
    expect(catalogue['features']).toEqual(
      features.all.map(({ config, ...feature }) => ({
        ...feature,
        ...(config && { config: { schema: config.shape, defaults: config.defaults } }),
      })),
    );
    expect(catalogue['refs']).toEqual(refs.all);
    expect(catalogue['templates']).toEqual(templates.all);
  });

  it('the reference page has a heading for each built-in and every text that an agent reads', () => {
    const page = builtinsPage();
    const ids = [contracts, features, refs, templates].flatMap((registry) => registry.ids);
    expect([...page.matchAll(/^### (.+)$/gm)].map(([, id]) => id)).toEqual(ids);
    const words = page.replaceAll(/^> ?/gm, '');
    for (const { guidance } of contracts.all) expect(words).toContain(guidance);
    for (const { effects } of features.all) for (const { text } of effects) expect(words).toContain(text);
    for (const { text } of refs.all) expect(words).toContain(text);
  });
});
