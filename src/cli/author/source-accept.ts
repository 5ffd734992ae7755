import { err, safeTry } from 'neverthrow';
import type * as z from 'zod';
import { type DescribedSource, describeSource } from '../../app/author/describe-source.ts';
import type { ProjectSources } from '../../app/ports/workflow-sources.ts';
import {
  type AskedSource,
  type EarlierSource,
  earlierSource,
  fetchAskedSources,
  listAskedSources,
} from '../../app/sources.ts';
import type { GitSource } from '../../core/sources.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { plural } from '../../core/text/words.ts';
import { sourceAcceptData } from '../../core/wire/machine-shapes.ts';
import { command, done } from '../command.ts';
import { confirmLoosening, isPersonThere } from '../loosening.ts';
import { type CommandProblem, EXIT, problem } from '../problem.ts';
import { healthText, sourcePlace, sourceProblem } from '../sources.ts';

export const sourceAccept = command({
  example: 'workrail source accept',
  data: sourceAcceptData,
  run: (context) =>
    safeTry(async function* () {
      const { project } = await context.program.sources();
      const before = yield* (await listAskedSources(project)).mapErr(sourceProblem);
      if (before.length === 0) return err(nothingAsked(project));
      const isNew = before.some(({ isAccepted }) => !isAccepted);
      // Without a person nothing is fetched: an agent could run this.
      if (isNew && !isPersonThere(context)) return err(nobodyAccepts(before));
      context.progress.show({ label: 'fetching' });
      const asked = yield* (await fetchAskedSources(project)).mapErr(sourceProblem);
      if (isNew) {
        const { sha256 } = await context.program.setup();
        const author = await context.program.author();
        const changes: string[] = [];
        const changed = asked.filter(({ isAccepted }) => !isAccepted);
        for (const one of changed) {
          const described = await describeSource(author, project.inspector, one.source);
          changes.push(...acceptanceWords(one, described, await earlierSource(project, one.source)));
        }
        const purpose = changed.length === 1 ? 'accept this source' : 'accept these sources';
        yield* await confirmLoosening(context, { changes, command: 'workrail source accept', purpose }, sha256);
        yield* (await project.accept(asked.map(({ source }) => source))).mapErr(sourceProblem);
      }
      const names = asked.map(({ source }) => source.name).join(', ');
      const data: z.infer<typeof sourceAcceptData> = {
        file: project.file,
        sources: asked.map((one) => ({ ...one, isAccepted: true })),
        isChanged: isNew,
      };
      return done({
        data,
        lines: [
          [
            isNew
              ? `Accepted for ${project.workspace}: ${names}. If a commit in .workrail/sources.json changes, you are asked again.`
              : `Already accepted: ${names}. The copies are complete.`,
          ],
        ],
        next: 'workrail workflow list',
      });
    }),
});

function nothingAsked({ file }: ProjectSources): CommandProblem {
  return problem(
    EXIT.notFound,
    `The project in this folder asks for no sources (${file}).`,
    'Run this in the folder that contains .workrail/sources.json, or add a source for the project: workrail source add ADDRESS --project',
  );
}

function nobodyAccepts(asked: readonly AskedSource[]): CommandProblem {
  const names = asked
    .filter(({ isAccepted }) => !isAccepted)
    .map(({ source }) => `${source.name} (${sourcePlace(source)})`);
  return problem(
    EXIT.needsPerson,
    `This project asks for ${names.join(', ')}. Only a person at a terminal can accept that. Nothing was fetched.`,
    'Run this in a terminal of your own: workrail source accept',
  );
}

/** Everything that a person needs to decide. Nothing is left out: what is not shown is accepted, too. */
function acceptanceWords(
  { source, health }: AskedSource,
  { workflows, invalid }: DescribedSource,
  earlier: EarlierSource | undefined,
): readonly string[] {
  const has =
    health.kind === 'ready' ? `It has ${plural(workflows.length, 'workflow')}.` : `It has ${healthText(health)}`;
  return [
    `This project asks for the source "${source.name}": ${source.url}${source.ref === undefined ? '' : ` (${source.ref})`}, commit ${source.commit}, folder ${source.folder}.`,
    has,
    ...workflows.flatMap(({ id, title, file, steps, commands }): readonly string[] => [
      `  ${id} "${visibleLine(title)}", ${plural(steps, 'step')}, ${visibleLine(file)}${commands.length === 0 ? '. It has no checks.' : '. Its checks run:'}`,
      ...commands.map((run) => `    ${visibleLine(run)}`),
    ]),
    ...invalid.map(({ file, errors }) => `  ${visibleLine(file)} cannot be used (${plural(errors, 'error')}).`),
    ...(earlier === undefined ? [] : earlierWords(earlier, source)),
    'If you accept it, agents in this project are offered its workflows and follow them.',
  ];
}

/** A person who accepted an earlier commit decides about what changed since then. */
function earlierWords({ source: before, changes }: EarlierSource, now: GitSource): readonly string[] {
  const from = before.url === now.url ? '' : ` of ${before.url}`;
  const accepted = `You accepted commit ${before.commit.slice(0, 10)}${from} before.`;
  if (changes === undefined) return [`${accepted} Its files are not on this machine any more.`];
  if (changes.length === 0) return [`${accepted} The workflow files have not changed since then.`];
  return [`${accepted} What changes:`, ...changes.flatMap(({ diff }) => diff.map((line) => `  ${visibleLine(line)}`))];
}
