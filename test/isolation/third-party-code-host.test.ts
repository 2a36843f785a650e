// Test run: end-to-end, slow
/** A code host of a third party, in a package of its own and a process of its own, beside the code hosts that are shipped. */
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t, { type Test } from 'tap'
import { installedPlugin } from '../../server/test/plugins/isolation/world.ts'
import { startGitHub } from '../destinations/forge/github.ts'
import { startForge } from '../destinations/tinyforge.ts'
import { connect } from '../support/connect.ts'
import { Installation } from '../support/installation.ts'

const skip = (await isolationProblem()) ?? false
const TOKEN = 'a-token-that-nobody-guesses'
const ACTION = 'codehost.commit.push'
const SLUG = 'acme/app'

/** Both plugins in one installation, each with a host that has the repository. */
async function start(t: Test, order: 'shipped first' | 'third party first') {
  const [forge, github] = await Promise.all([startForge({ slug: SLUG, token: TOKEN }), startGitHub()])
  t.teardown(() => Promise.all([forge.close(), github.close()]))
  const { use } = installedPlugin(t, 'build/test/plugins/tinyforge.js', {
    '@claimcheck/plugin-codehost': 'plugins/codehost',
  })
  const shipped = { use: '@claimcheck/plugin-codehost', with: { public_base_url: github.url } }
  const third = { use }
  const checkout = process.cwd()
  const installation = await Installation.during(t, {
    plugins:
      order === 'shipped first'
        ? [{ ...shipped, use: `${checkout}/plugins/codehost` }, third]
        : [third, { ...shipped, use: `${checkout}/plugins/codehost` }],
    env: { ALLOW_PRIVATE: `${forge.host},${new URL(github.url).host}` },
    file: { sources: { github: [github.url] } },
  })
  const client = await installation.client('acme')
  const repository = await github.createRepository(SLUG)
  const { connections } = installation.claimcheck
  const options = { base_url: forge.url, token: TOKEN }
  await connect({ connections }, client.workspaceId, 'tinyforge', options)
  const claim = (sha: string, more: object = {}) =>
    client.submit({ action: ACTION, target: SLUG, params: { sha, branch: 'main', ...more } })
  return { installation, client, forge, github, repository, claim }
}

for (const order of ['shipped first', 'third party first'] as const) {
  t.test(`claims name the code host of a third party, or a shipped one (${order})`, { skip }, async (t) => {
    const { installation, client, forge, github, repository, claim } = await start(t, order)
    const byName = new Map(installation.claimcheck.registry.plugins.map((plugin) => [plugin.name, plugin.isolation]))
    t.strictSame([byName.get('codehost'), byName.get('tinyforge')], ['trusted', 'isolated'])

    const first = await forge.push('main')
    const tip = await forge.push('main')
    const side = await forge.push('side', [tip])
    const theirs = await repository.commit()
    await repository.push('main', theirs)

    const at = async (sha: string, host?: string) => {
      const { body } = await claim(sha, host === undefined ? {} : { host })
      if (body.state !== 'decided') return body.state
      const { body: receipt } = await installation.request(`/v1/receipts/${body.receipt_id}`)
      const { observation } = receipt.body
      return { verdict: body.verdict, source: observation.source?.provider, facts: observation.facts }
    }
    const seen = { verdict: 'verified', source: 'tinyforge', facts: { repository: SLUG, repository_id: 7, head: tip } }
    t.match(await at(tip, forge.host), seen)
    t.match(await at(first.toUpperCase(), forge.host), seen, 'an ancestor, in upper case')
    t.match(await at(tip), seen, 'the only connection is meant where no host is named')
    t.match(await at(theirs, new URL(github.url).host), { verdict: 'verified', source: 'github' })
    t.match(await at('0'.repeat(40), 'nobody.example'), { verdict: 'unverifiable' }, 'nobody reads that host')
    t.equal(await at(side, forge.host), 'queued', 'it is on another branch, and may still be merged')
    t.equal(await at(theirs, forge.host), 'queued', 'what the other host has is not there')
    await forge.push('main', [tip, side])
    t.match(await at(side, forge.host), { verdict: 'verified' })

    const alias = await client.submit({
      action: 'github.commit.push',
      target: SLUG,
      params: { sha: theirs, branch: 'main' },
    })
    t.match(alias.body, { verdict: 'verified' }, 'the alias is read at the public place')
    t.ok(forge.requests.every((request) => /^(?:GET|HEAD) /.test(request)))
  })
}

t.test('a workspace without a connection to the third party never asks it', { skip }, async (t) => {
  const { installation, forge, repository } = await start(t, 'third party first')
  const sha = await repository.commit()
  await repository.push('main', sha)
  const other = await installation.client('other')
  const before = forge.requests.length
  const { body } = await other.submit({ action: ACTION, target: SLUG, params: { sha, branch: 'main' } })
  t.match(body, { state: 'decided', verdict: 'verified' })
  t.equal(forge.requests.length, before)
})
