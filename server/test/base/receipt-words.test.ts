import { factSentences, vouchedFor } from '@claimcheck/server/base/fact-words'
import { sourceWords } from '@claimcheck/server/base/source-words'
import t from 'tap'

const AT = '2026-09-25T14:02:11.000Z'

const sources: [source: Parameters<typeof sourceWords>, words: string][] = [
  [
    [{ provider: 'github', listed: true, base_url: 'https://api.github.com' }, { title: 'GitHub' }],
    'https://api.github.com (listed as GitHub)',
  ],
  [
    [{ provider: 'github', listed: true, base_url: 'https://api.github.com' }],
    'https://api.github.com (listed as github)',
  ],
  [[{ provider: 'git', listed: false, source_id: 'abc' }], 'a server that this workspace chose, address withheld'],
  [
    [{ provider: 'git', listed: false, base_url: 'https://a.example' }, { chosenBy: 'workspace' }],
    'a server that this workspace chose: https://a.example',
  ],
  [
    [{ provider: 'git', listed: false, base_url: 'https://a.example' }, { chosenBy: 'service' }],
    'a server that this service chose, and does not list: https://a.example',
  ],
  [
    [{ provider: 'git', listed: false, base_url: 'https://a.example' }],
    'a server that the issuer does not list, chosen by the workspace or by the issuer: https://a.example',
  ],
]

for (const [args, words] of sources) {
  t.test(`where it was read: ${words}`, async (t) => {
    t.equal(sourceWords(...args), words)
  })
}

const facts: [facts: Parameters<typeof factSentences>[0], sentences: RegExp[]][] = [
  [{ pushed_at: AT }, [/pushed at 2026-09-25T14:02:11.000Z/]],
  [{ removed_at: AT }, [/removed again at 2026/]],
  [{ preexisting: true, pushed_at: AT }, [/pushed at/, /already there before the claim, since 2026/]],
  [{ preexisting: true }, [/already there long before the claim/]],
  [{ pusher_matches: true }, [/names the pusher that the claim names/]],
  [{ pusher_matches: false }, [/names another pusher/]],
  [{ branch_listed: false }, [/does not list the branch/]],
  [{ branch_listed: true }, []],
  [{ repository: 'acme/app' }, []],
  [{ repository: 'acme/new-name' }, [/calls it acme\/new-name/]],
  [{ found_on: 'other' }, [/on the branch other/]],
  [{ status: 200, seen: 'present' }, []],
  [{ pushed_at: 5, preexisting: 'yes', pusher_matches: null, branch_listed: 0, repository: {} }, []],
]

for (const [given, sentences] of facts) {
  t.test(`facts in sentences: ${JSON.stringify(given)}`, async (t) => {
    const told = factSentences(given, 'acme/app')
    t.equal(told.length, sentences.length)
    for (const [index, sentence] of sentences.entries()) t.match(told[index], sentence)
  })
}

t.test('only verified is taken for more than it says', async (t) => {
  t.match(vouchedFor('verified'), /does not say who brought it there/)
  t.equal(vouchedFor('late'), undefined)
})
