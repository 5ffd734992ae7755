import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { CommandPath, RequestInput } from '../../src/core/wire/command-shapes.ts';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { type Write, write } from '../state/api.ts';
import { notice } from '../state/told.ts';
import { Dialog } from './dialog.tsx';
import { Button, CommandHint, ErrorPanel } from './panels.tsx';

type CommandWrite = Extract<Write, CommandPath>;

type Parts<Path extends CommandWrite> = {
  readonly path: Path;
  readonly input: RequestInput<Path>;
  readonly label: string;
  /** What the person reads before it is done. Without a question the command is still shown first. */
  readonly question: React.ReactNode;
  readonly isMain?: boolean;
  readonly isDisabled?: boolean;
  /** What came of it, in words. */
  readonly said: (reply: ConsoleReply<Path>) => string;
};

/** A button that runs a command: it first shows the command line, and then does exactly that. */
export function CommandButton<Path extends CommandWrite>(parts: Parts<Path>) {
  const { label, isMain, isDisabled } = parts;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button label={label} className={isMain ? 'main' : ''} disabled={isDisabled} onClick={() => setOpen(true)} />
      {isOpen && <Confirm {...parts} onClose={() => setOpen(false)} />}
    </>
  );
}

function Confirm<Path extends CommandWrite>(parts: Parts<Path> & { readonly onClose: () => void }) {
  const { path, input, label, question, said, onClose } = parts;
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: () => write(path, {}, input as never) as Promise<ConsoleReply<Path>>,
    onSuccess: async (reply) => {
      notice.set({ words: said(reply) });
      onClose();
      await queries.invalidateQueries();
    },
  });
  return (
    <Dialog title={label} className="confirm" onClose={onClose}>
      <div>{question}</div>
      <CommandHint command={typedCommand(path, input)} />
      <ErrorPanel error={act.error} />
      <div className="actions">
        <Button
          label={act.isPending ? 'Working …' : label}
          className="main"
          disabled={act.isPending}
          onClick={() => act.mutate()}
        />
        <Button label="Cancel" onClick={onClose} />
      </div>
    </Dialog>
  );
}
