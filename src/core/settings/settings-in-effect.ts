import { ownJsonBytes, type Sha256, type Sha256Digest } from '../json/canonical-json.ts';
import { defined } from '../json/json-value.ts';
import {
  type Assurance,
  AUTONOMY,
  type Autonomy,
  autonomySchema,
  exceeds,
  PRESETS,
  type Preferences,
  riskPolicySchema,
} from '../log/autonomy.ts';
import type { EventOf } from '../log/event.ts';
import type { AttestationChannel } from '../log/events/attestation-events.ts';
import type { By } from '../log/events/event-envelope.ts';
import type { WorkflowSourceKind } from '../log/events/run-events.ts';
import type { IgnoredSetting, ResolvedSettings, Setting, SettingOrigin } from './resolve-settings.ts';
import { ANSWER_CHANNELS, RECOMMENDED, SETTING_NAMES } from './setting-keys.ts';
import { originText } from './settings-words.ts';

type PreferenceSource = EventOf<'preferences_changed'>['data']['source'];

/** The preferences of a run that is started without a mode, and what limits them. */
export type RunDefaults = Preferences & {
  /** Who set the mode; by default nobody. */
  readonly origin?: SettingOrigin;
  /** The run starts as its workflow recommends, with `autonomy` as the limit. */
  readonly isRecommended?: true;
  /** The loosest mode that anybody can set, and where that is set. */
  readonly max?: { readonly autonomy: Autonomy; readonly origin: SettingOrigin };
  /** Looser values of the project or the environment. */
  readonly ignored?: readonly IgnoredSetting[];
  /** Whether the git identity is recorded as the author of a session. */
  readonly recordsAuthor?: true;
};

export function runDefaults(config: Omit<ResolvedSettings, 'problems'>): RunDefaults {
  const { mode, riskPolicy, 'autonomy.max': max, 'sessions.author': author } = config.settings;
  const { recommendedLimit, ignored } = config;
  const isRecommended = mode.value === RECOMMENDED;
  const limit: Setting = isRecommended ? (recommendedLimit ?? max) : mode;
  const autonomy = autonomySchema.parse(limit.value);
  const policy = riskPolicySchema.safeParse(riskPolicy.value);
  return {
    autonomy,
    riskPolicy: policy.success ? policy.data : PRESETS[isRecommended ? 'guided' : autonomy].riskPolicy,
    origin: isRecommended && recommendedLimit === undefined ? mode.origin : limit.origin,
    ...(isRecommended ? { isRecommended } : {}),
    max: { autonomy: autonomySchema.parse(max.value), origin: max.origin },
    ignored,
    ...(author.value === true ? { recordsAuthor: true } : {}),
  };
}

/** A mode that was lowered, and what lowered it. */
export type ModeCap = { readonly asked: Autonomy; readonly effective: Autonomy; readonly cause: string };

/** Preferences with who set them. */
export type ChosenPreferences = {
  readonly preferences: Preferences;
  readonly source: PreferenceSource;
  /** How they were set, if not by the call itself. */
  readonly by?: By;
  readonly cap?: ModeCap;
};

/** A mode that the agent sent, lowered to what the settings allow. */
export function chosenMode(asked: Autonomy, { max }: Pick<RunDefaults, 'max'>): ChosenPreferences {
  if (max === undefined || !exceeds(AUTONOMY, asked, max.autonomy))
    return { preferences: PRESETS[asked], source: 'agent' };
  const effective = max.autonomy;
  const cause = `autonomy.max (${originText(max.origin)})`;
  return { preferences: PRESETS[effective], source: 'policy', by: CONFIG, cap: { asked, effective, cause } };
}

type Recommended = { readonly [key in keyof Preferences]?: Preferences[key] | undefined };

/** The preferences that a run starts with if its caller sends no mode. */
export function startPreferences(
  defaults: RunDefaults,
  workflow: { readonly recommended: Recommended; readonly kind: WorkflowSourceKind },
): ChosenPreferences {
  if (defaults.isRecommended) return recommendedPreferences(defaults, workflow);
  const { autonomy, riskPolicy, origin } = defaults;
  const capped = chosenMode(autonomy, defaults);
  if (capped.cap !== undefined) return { ...capped, preferences: { ...capped.preferences, riskPolicy } };
  return { preferences: { autonomy, riskPolicy }, ...settingSource(origin) };
}

/** Anyone who can change a project, a git source or a package must not decide how far an agent goes on its own. */
const TRUSTED_KINDS: readonly WorkflowSourceKind[] = ['bundled', 'user'];

function recommendedPreferences(
  { autonomy: limit, riskPolicy, max, origin }: RunDefaults,
  { recommended, kind }: { readonly recommended: Recommended; readonly kind: WorkflowSourceKind },
): ChosenPreferences {
  const asked = recommended.autonomy ?? 'guided';
  const isTrusted = TRUSTED_KINDS.includes(kind);
  const limits = [
    { autonomy: limit, cause: `mode (${originText(origin ?? { kind: 'default' })})` },
    ...(max === undefined ? [] : [{ autonomy: max.autonomy, cause: `autonomy.max (${originText(max.origin)})` }]),
    ...(isTrusted ? [] : [{ autonomy: 'guided' as const, cause: 'the source of the workflow' }]),
  ];
  const cap = limits
    .filter(({ autonomy }) => exceeds(AUTONOMY, asked, autonomy))
    .toSorted((a, b) => AUTONOMY.indexOf(a.autonomy) - AUTONOMY.indexOf(b.autonomy))[0];
  const effective = cap?.autonomy ?? asked;
  return defined({
    preferences: { autonomy: effective, riskPolicy },
    source: 'workflow_recommendation' as const,
    by: CONFIG,
    cap: cap && { asked, effective, cause: cap.cause },
  });
}

const CONFIG: By = { via: 'config' };

/** Who set the mode that the settings give. Only the user's own file speaks for the user. */
function settingSource(origin: SettingOrigin | undefined): Pick<ChosenPreferences, 'source' | 'by'> {
  switch (origin?.kind) {
    case 'user':
      return { source: 'user', by: CONFIG };
    case 'workspace':
      return { source: 'policy', by: CONFIG };
    case 'variable':
      return { source: 'environment', by: CONFIG };
    default:
      return { source: 'system' };
  }
}

/** What applies to the gates of a workspace. */
export type GateSettings = {
  readonly minimum: Assurance;
  /** The channels on which an answer counts. */
  readonly accept: readonly AttestationChannel[];
  /** Where people answer, if that is a page on another machine. */
  readonly page?: string;
  /** Whether what must be signed needs two approvers. */
  readonly isFourEyes: boolean;
  readonly waitSeconds: number;
  /** What happens where nobody can answer. */
  readonly unattended: 'block' | 'gap';
};

/** The gates of a rehearsal: a script answers instead of a person. */
export const REHEARSED_GATES: GateSettings = {
  minimum: 'stated',
  accept: [...ANSWER_CHANNELS, 'rehearsal'],
  isFourEyes: false,
  waitSeconds: 0,
  unattended: 'block',
};

/** The gates as the settings want them. While a setting is invalid they are as tight as they can be set. */
export function gateSettings({ settings, problems }: Pick<ResolvedSettings, 'settings' | 'problems'>): GateSettings {
  const { value: accept } = settings['gates.accept'];
  const isBroken = problems.length > 0;
  return {
    minimum: isBroken ? 'signed' : (settings['gates.minimum'].value as Assurance),
    accept: ANSWER_CHANNELS.filter((channel) => typeof accept !== 'object' || accept.includes(channel)),
    isFourEyes: isBroken || settings['gates.fourEyes'].value === true,
    waitSeconds: Number(settings['gates.waitSeconds'].value),
    unattended: !isBroken && settings['gates.unattended'].value === 'gap' ? 'gap' : 'block',
  };
}

/** A hash of the settings in effect. Two processes with the same hash behave alike. */
export function configHash({ settings }: Pick<ResolvedSettings, 'settings'>, sha256: Sha256): Sha256Digest {
  const values = Object.fromEntries(SETTING_NAMES.map((name) => [name, settings[name].value ?? null]));
  return sha256(ownJsonBytes(values));
}
