import { readFileSync } from 'node:fs';

/**
 * The library of the protocol builds 1,800 schemas before the first reply, of which a server needs 200. A bundler cannot
 * tell that building a schema has no effect, so this says it, and lets schemas of messages be built when one arrives.
 * What they accept stays the same. Text that does not look as expected ends the build: another version was installed.
 */
export const leanProtocol = {
  name: 'lean-protocol',
  setup: (build) => {
    const change = (filter, edit) =>
      build.onLoad({ filter }, ({ path }) => ({ contents: edit(readFileSync(path, 'utf8')), loader: 'js' }));
    change(/[/\\]@modelcontextprotocol[/\\]core[/\\]dist[/\\](?:schemas|auth)-[\w-]+\.mjs$/, droppable);
    change(/[/\\]@modelcontextprotocol[/\\]server[/\\]dist[/\\]src-[\w-]+\.mjs$/, (source) =>
      lazyRegistry(lazyMessages(droppableTypes(source))),
    );
  },
};

/** A value that a bundler leaves out if nothing uses it. */
const unlessUnused = (made) => `/* @__PURE__ */ (() => ${made})()`;

const DECLARED = /^const (\w+) = ((?:z\.|\w+Schema\b)[\s\S]*?);\n(?=const|let|function|export|\/|\n)/gm;

function droppable(source) {
  return replaced(source, DECLARED, (_, name, made) => `const ${name} = ${unlessUnused(made)};\n`);
}

/** All types of the protocol by name, and what is derived from schemas of forms. */
function droppableTypes(source) {
  const types = /const authSchemas = [\s\S]*?\nconst isSpecType = .*;\n/;
  const whole = replaced(source, types, (text) =>
    [
      `const specTypes = ${unlessUnused(`{ ${text} return [specTypeSchemas, isSpecType]; }`)};`,
      `const specTypeSchemas = ${unlessUnused('specTypes[0]')};`,
      `const isSpecType = ${unlessUnused('specTypes[1]')};\n`,
    ].join('\n'),
  );
  const derived =
    /^const (ROOT_KEYS|PROPERTY_KEYS_BY_TYPE|SUPPORTED_STRING_FORMATS) = ([\s\S]*?);\n(?=const|\/|function)/gm;
  return replaced(whole, derived, (_, name, made) => `const ${name} = ${unlessUnused(`(${made})`)};\n`);
}

/** The schemas of the messages that nearly all clients send are built one by one, when they are first looked up. */
function lazyMessages(source) {
  const built = /function build\$1\(\) \{\n([\s\S]*?)\treturn \{\n([\s\S]*?)\t\};\n\}\nlet memo\$1;/;
  return replaced(source, built, (_, declared, returned) => {
    const made = new Map(
      Array.from(
        declared.matchAll(/^\tconst ([\w$]+) = ([\s\S]*?);\n(?=\t(?:const|\/\*)|$(?![\s\S]))/gm),
        ([, name, text]) => [name, text],
      ),
    );
    const fields = Array.from(returned.matchAll(/^\t\t(\w+): ([\s\S]*?),?\n(?=\t\t\w|$(?![\s\S]))/gm));
    const names = [...made.keys()].map((name) => name.replace('$', '\\$')).join('|');
    const used = new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)(?:${names})(?![\\w$])`, 'g');
    const lazy = (text) => `lazily(() => ${text.replace(used, '$&()')})`;
    return [
      'function build$1() {',
      'const lazily = (make) => { let made; return () => (made ??= make()); };',
      ...Array.from(made, ([name, text]) => `const ${name} = ${lazy(text)};`),
      ...fields.map(([, name, text]) => `const of${name} = ${lazy(text)};`),
      `return { ${fields.map(([, name]) => `get ${name}() { return of${name}(); }`).join(',\n')} };`,
      '}\nlet memo$1;',
    ].join('\n');
  });
}

function lazyRegistry(source) {
  return replaced(source, /function registryMaps\(\) \{[\s\S]*?\n\}\n/, (text) =>
    replaced(text, /("[\w/]+"|\w+): (s\.\w+)/g, (_, name, schema) => `get ${name}() { return ${schema}; }`),
  );
}

function replaced(text, pattern, by) {
  const changed = text.replace(pattern, by);
  if (changed === text) throw new Error(`the protocol library has nothing like ${pattern}`);
  return changed;
}
