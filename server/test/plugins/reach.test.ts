/** What a plugin may reach follows from its manifest, what the operator gave it, and whether the operator trusts it. */
import type { Manifest } from '@claimcheck/core/hosting'
import { reachOf } from '@claimcheck/server/plugins/reach'
import t from 'tap'

const hosts: [what: string, listed: string, given: Readonly<Record<string, unknown>>, expected: readonly string[]][] = [
  ['a name', 'api.example.com', {}, ['api.example.com']],
  ['a name with a port', 'api.example.com:8443', {}, ['api.example.com:8443']],
  ['all names below one', '*.example.com', {}, ['*.example.com']],
  ['the address of a connection', 'connection.base_url', {}, ['connection.base_url']],
  ['what claims name', 'target', {}, ['target']],
  ["an operator's address", 'options.url', { url: 'https://ghe.example.com/api/v3' }, ['ghe.example.com']],
  ["an operator's address with a port", 'options.url', { url: 'http://127.0.0.1:3000' }, ['127.0.0.1:3000']],
  ["an operator's address with the usual port", 'options.url', { url: 'https://a.example:443/' }, ['a.example']],
  ['an option that was not given', 'options.url', {}, []],
  ['an option that is no address', 'options.url', { url: 'target' }, []],
  ['an option that is no text', 'options.url', { url: 5 }, []],
  ['an option that objects inherit', 'options.constructor', {}, []],
]
for (const [what, listed, given, expected] of hosts) {
  t.test(`a manifest that lists ${what} reaches ${expected.join() || 'nothing'}`, async (t) => {
    t.strictSame(reachOf({ hosts: [listed] }, given, false), { hosts: expected, mayReveal: false })
  })
}

t.test('methods and sockets are reached as they are declared', async (t) => {
  const declared: Manifest = {
    hosts: [],
    methods: { jsonRpc: ['eth_getLogs'], graphql: ['{ id }'] },
    sockets: [{ port: 993, tls: true, protocol: 'imap', commands: ['EXAMINE'] }],
  }
  t.strictSame(reachOf(declared, {}, true), { ...declared, mayReveal: false })
})

t.test('credentials are revealed to programs alone, of a plugin that the operator trusts', async (t) => {
  const mayReveal = (programs: readonly string[] | undefined, isTrusted: boolean) =>
    reachOf({ hosts: [], ...(programs ? { programs } : {}) }, {}, isTrusted).mayReveal
  t.ok(mayReveal(['git'], true))
  t.notOk(mayReveal(['git'], false))
  t.notOk(mayReveal([], true))
  t.notOk(mayReveal(undefined, true))
})
