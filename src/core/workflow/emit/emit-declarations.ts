import { CAPABILITIES } from '../../log/capabilities.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { MergedDeclarations } from '../expand/merge-declarations.ts';
import { type ActiveFeature, featureRules } from './apply-features.ts';

type Emitted = Pick<CompiledWorkflow, 'capabilities' | 'features' | 'metaGuidance' | 'references' | 'origins'>;

/** What holds for the whole run, and where that comes from which the author of the file did not write. */
export function emitDeclarations(declared: MergedDeclarations, active: readonly ActiveFeature[]): Emitted {
  const rules = [...declared.metaGuidance, ...featureRules(active)];
  const needs = CAPABILITIES.flatMap((capability) => {
    const needed = declared.needs[capability];
    return needed === undefined ? [] : [{ capability, ...needed }];
  });
  const origins = [
    ...needs.flatMap(({ capability, originId }) => originOf(`/capabilities/${capability}`, originId)),
    ...active.flatMap(({ originId }, i) => originOf(`/features/${i}`, originId)),
    ...rules.flatMap(({ originId }, i) => originOf(`/metaGuidance/${i}`, originId)),
    ...declared.references.flatMap(({ originId }, i) => originOf(`/references/${i}`, originId)),
  ];
  return {
    capabilities: Object.fromEntries(needs.map(({ capability, need }) => [capability, need])),
    features: active.map(({ feature, config }) => ({
      featureId: feature.featureId,
      ...(config === undefined ? {} : { config }),
    })),
    metaGuidance: rules.map(({ text }) => text),
    references: declared.references.map(({ at: _, originId: _origin, ...reference }) => reference),
    ...(origins.length === 0 ? {} : { origins }),
  };
}

function originOf(pointer: string, originId: string | undefined): NonNullable<Emitted['origins']> {
  return originId === undefined ? [] : [{ pointer, originId }];
}
