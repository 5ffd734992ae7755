import type { JsonObject } from '../json/json-value.ts';
import type { Preferences } from '../log/autonomy.ts';
import type { Capability, CapabilityStatus } from '../log/capabilities.ts';
import type { CompilePattern } from '../workflow/pattern.ts';

/** What is known of a capability on a line; absent where nobody ever looked. */
export type KnownCapabilities = {
  readonly [capability in Capability]?: { readonly status: CapabilityStatus; readonly grade: 'strong' | 'weak' };
};

/** Everything about a place in a run that its pinned workflow does not tell. */
export type RunFacts = {
  readonly context: JsonObject;
  readonly preferences: Preferences;
  readonly capabilities: KnownCapabilities;
  readonly compilePattern: CompilePattern;
};
