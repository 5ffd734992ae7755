import { err, type Result } from 'neverthrow';
import { spaceSignIns } from '../adapters/identity/space-sign-ins.ts';
import { findDataDir } from '../adapters/settings.ts';
import { nodeHasher, systemClock } from '../adapters/system.ts';
import type { SpaceSignInRefusal, SpaceSignIns } from '../app/ports/browser-sign-in.ts';
import type { SignedInToSpace, SignInWish } from '../cli/program.ts';
import type { ListenRefusal } from '../http/local-requests.ts';
import { listenForSignIn } from '../http/sign-in-listener.ts';
import { openInBrowser, removeLinkFile } from './open-in-browser.ts';

export async function openSignIns(): Promise<{ readonly signIns: SpaceSignIns; readonly dataDir: string }> {
  const dataDir = await findDataDir();
  return { signIns: spaceSignIns({ dataDir, clock: systemClock, sha256: nodeHasher.sha256 }), dataDir };
}

/** A person finds the password, and the phone. */
const PERSON_MS_MAX = 300_000;

/** Signs a person in to a space, with a browser that comes back to this machine. */
export async function signInTo(
  url: URL,
  { clientId, port, show }: SignInWish,
): Promise<Result<SignedInToSpace, SpaceSignInRefusal | ListenRefusal>> {
  const { signIns, dataDir } = await openSignIns();
  const listener = await listenForSignIn(port);
  if (listener.isErr()) return err(listener.error);
  const { redirectUri, wait, stop } = listener.value;
  const begun = await signIns.begin(url.href, { redirectUri, clientId });
  if (begun.isErr()) {
    await stop();
    return err(begun.error);
  }
  const { address, state, finish } = begun.value;
  await show({ address, open: () => openInBrowser(address, dataDir) });
  let ended: Result<SignedInToSpace, SpaceSignInRefusal> = err({ code: 'sign_in_unanswered' });
  await wait({
    state,
    msMax: PERSON_MS_MAX,
    finish: async (query) => {
      ended = await finish(query);
      return ended.isOk()
        ? 'You are signed in. You can close this page.'
        : 'You are not signed in. The terminal says why.';
    },
  });
  await stop();
  await removeLinkFile(dataDir);
  return ended;
}

/** Forgets a sign-in; `undefined` if there was none. */
export async function signOutOf(url: URL): Promise<{ readonly isRevoked: boolean } | undefined> {
  return (await openSignIns()).signIns.end(url.href);
}
