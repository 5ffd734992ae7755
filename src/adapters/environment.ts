import { err, ok, type Result } from 'neverthrow';
import type { TokenForm } from '../core/token/token.ts';

type Environment = { readonly [name: string]: string | undefined };

/** What a server takes from its environment, besides where its data lies. */
export type Settings = {
  readonly tokenForm: TokenForm;
  /** Whether everything that happens is written to standard error. */
  readonly isLogged: boolean;
  /** Whether agents may begin a session without a workflow. */
  readonly isSessionStartOn: boolean;
};

/** A variable that is set to something that means nothing. */
export type SettingProblem = { readonly name: string; readonly value: string; readonly expected: string };

const TOKEN_FORMS: ReadonlyMap<string, TokenForm> = new Map([
  ['v1', 'json'],
  ['v2', 'compact'],
]);

/** Reads the settings of a server. A value that means nothing is refused: whoever set it expects an effect. */
export function readSettings(env: Environment): Result<Settings, SettingProblem> {
  const dataDir = env['WORKRAIL_DATA_DIR'] ?? '';
  if (/^~[^\\/]/.test(dataDir)) {
    const expected = 'a path, or one that begins with ~/ for your own home folder';
    return err({ name: 'WORKRAIL_DATA_DIR', value: dataDir, expected });
  }
  const format = env['WORKRAIL_TOKEN_FORMAT'] ?? '';
  const tokenForm = format === '' ? 'compact' : TOKEN_FORMS.get(format);
  if (tokenForm === undefined) {
    return err({ name: 'WORKRAIL_TOKEN_FORMAT', value: format, expected: 'v1 (long) or v2 (short, the default)' });
  }
  const log = env['WORKRAIL_LOG'] ?? '';
  if (!['', '0', '1'].includes(log)) {
    return err({ name: 'WORKRAIL_LOG', value: log, expected: '1 (every call on standard error) or 0 (the default)' });
  }
  const sessionStart = env['WORKRAIL_ENABLE_START_SESSION'] ?? '';
  if (!['', '0', '1'].includes(sessionStart)) {
    const expected = '1 (agents get start_session) or 0 (the default)';
    return err({ name: 'WORKRAIL_ENABLE_START_SESSION', value: sessionStart, expected });
  }
  return ok({ tokenForm, isLogged: log === '1', isSessionStartOn: sessionStart === '1' });
}
