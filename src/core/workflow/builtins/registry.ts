import { registry } from './contracts.ts';
import { FEATURES, type Feature } from './features.ts';
import { REFS, type Ref } from './refs.ts';
import { type BuiltinTemplate, TEMPLATES } from './templates.ts';

// Only the compiler needs these, so they are apart from the contracts, which every call needs.
export const features = registry<Feature>(FEATURES, ({ featureId }) => featureId);

export const refs = registry<Ref>(REFS, ({ refId }) => refId);

export const templates = registry<BuiltinTemplate>(TEMPLATES, ({ templateId }) => templateId);
