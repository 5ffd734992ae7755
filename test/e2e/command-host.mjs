// Runs commands of the built program one after the other in one process, for tests in which the process is not what is
// looked at. The parts of the program are loaded once; its main file is loaded again for every command.
import { pathToFileURL } from 'node:url';

let count = 0;
process.setMaxListeners(0);
process.stdout.setMaxListeners(0);

process.on('message', async ({ program, args, cwd, env }) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  const ended = { out: '', talk: '' };
  process.stdout.write = into(ended, 'out');
  process.stderr.write = into(ended, 'talk');
  await import(`${pathToFileURL(program).href}?${++count}`);
  process.send({ exitCode: process.exitCode ?? 0, ...ended });
});

function into(ended, name) {
  return (part, ...rest) => {
    ended[name] += typeof part === 'string' ? part : Buffer.from(part).toString();
    rest.findLast((one) => typeof one === 'function')?.();
    return true;
  };
}
