import type { ResolvedSettings } from '../../../core/settings/resolve-settings.ts';
import type { TokenForm } from '../../../core/token/token.ts';

/** What a server takes from its settings, besides where its data lies. */
export type Settings = {
  readonly tokenForm: TokenForm;
  /** Whether everything that happens is written to standard error. */
  readonly isLogged: boolean;
  /** Whether agents may begin a session without a workflow. */
  readonly isSessionStartOn: boolean;
};

export function settingsOf({ settings }: Pick<ResolvedSettings, 'settings'>): Settings {
  return {
    tokenForm: settings.tokenFormat.value === 'v1' ? 'json' : 'compact',
    isLogged: settings.log.value === true,
    isSessionStartOn: settings.startSession.value === true,
  };
}
