/** Changes of the list of plugins: the text around a change stays as its author wrote it. */
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceContent } from '@claimcheck/server/base/files'
import { withoutPlugin, withPlugin } from '@claimcheck/server/config/plugin-lines'
import t from 'tap'

const ADDED = { use: 'claimcheck-plugin-acme' }

const added: readonly (readonly [what: string, before: string, after: string])[] = [
  ['an empty file', '{}\n', '{\n  "plugins": [{ "use": "claimcheck-plugin-acme" }]\n}\n'],
  [
    'no list',
    '{\n\t"issuer_name": "A"\n}\n',
    '{\n\t"plugins": [{ "use": "claimcheck-plugin-acme" }],\n\t"issuer_name": "A"\n}\n',
  ],
  ['an empty list', '{ "plugins": [ ] }', '{ "plugins": [{ "use": "claimcheck-plugin-acme" }] }'],
  [
    'a list in one line',
    '{"plugins":[{"use":"a"}],"x":[1]}',
    '{"plugins":[{"use":"a"}, { "use": "claimcheck-plugin-acme" }],"x":[1]}',
  ],
  [
    'a list in lines',
    '{\n  "x": {"plugins": []},\n  "plugins": [\n    { "use": "a" },\n    { "use": "b", "with": { "c": "]}" } }\n  ]\n}\n',
    '{\n  "x": {"plugins": []},\n  "plugins": [\n    { "use": "a" },\n    { "use": "b", "with": { "c": "]}" } },\n    { "use": "claimcheck-plugin-acme" }\n  ]\n}\n',
  ],
]

for (const [what, before, after] of added) {
  t.test(`a plugin is added to ${what}, and removed again`, async (t) => {
    t.equal(withPlugin(before, ADDED), after)
    const rest = withoutPlugin(after, ADDED.use)
    t.strictSame(JSON.parse(rest), { plugins: [], ...JSON.parse(before) })
    if (/a list/.test(what)) t.equal(rest, before)
  })
}

t.test('a plugin is removed from each place of a list', async (t) => {
  const entries = ['a', 'b', 'c'].map((use) => `    {\n      "use": "${use}"\n    }`)
  const file = (some: readonly string[]) => `{\n  "plugins": [\n${some.join(',\n')}\n  ],\n  "issuer_name": "A"\n}\n`
  for (const [index, use] of ['a', 'b', 'c'].entries())
    t.equal(withoutPlugin(file(entries), use), file(entries.filter((_, at) => at !== index)))
  t.equal(withoutPlugin(file(entries), 'd'), file(entries))
})

t.test('a text whose form is not understood is written anew', async (t) => {
  const after = withPlugin('{ "pl\\u0075gins": [{ "use": "a" }] }', ADDED)
  t.equal(after, `${JSON.stringify({ plugins: [{ use: 'a' }, ADDED] }, undefined, 2)}\n`)
})

t.test('a file keeps its mode and the link that leads to it, and no draft stays', async (t) => {
  const folder = t.testdir()
  const [file, link] = [join(folder, 'file.json'), join(folder, 'link.json')]
  writeFileSync(file, 'old')
  chmodSync(file, 0o640)
  symlinkSync('file.json', link)
  replaceContent(link, 'new')
  t.equal(readFileSync(file, 'utf8'), 'new')
  t.equal(statSync(file).mode & 0o777, 0o640)
  t.strictSame(readdirSync(folder).toSorted(), ['file.json', 'link.json'])
})
