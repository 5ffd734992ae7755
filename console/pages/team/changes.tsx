import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConsoleInput } from '../../../src/core/wire/console-shapes.ts';
import { ErrorPanel } from '../../parts/panels.tsx';
import { useAbout, useNow } from '../../parts/shell.tsx';
import { Refused, signInAddress, type Write, write } from '../../state/api.ts';
import { notice } from '../../state/told.ts';

/** Sends a change, and says what came of it. */
export function useChange<
  Path extends Extract<
    Write,
    | 'setMember'
    | 'removeMember'
    | 'setSpace'
    | 'createToken'
    | 'revokeToken'
    | 'acceptSpaceSource'
    | 'removeSpaceSource'
  >,
>(path: Path, said: (given: ConsoleInput<Path>) => string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (given: ConsoleInput<Path>) => write(path, {}, given),
    onSuccess: (_, given) => notice.set({ words: said(given) }),
    onSettled: () => queries.invalidateQueries(),
  });
}

/** A refusal, with a way to prove again who one is where that is what it asks for. */
export function Refusal({ error, page }: { readonly error: unknown; readonly page: string }) {
  const about = useAbout();
  const now = useNow();
  const isOld = error instanceof Refused && error.status === 403 && now > (about?.team?.freshUntil ?? Infinity);
  return (
    <>
      <ErrorPanel error={error as Error | null} />
      {isOld && (
        <p>
          <a href={signInAddress(`/team/${page}`, true)}>Sign in again</a>
        </p>
      )}
    </>
  );
}
