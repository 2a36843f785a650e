// Test run: slow
/** The trap table of `chat.message.post`: no false `verified`, no false blame, and what is true gets told. */
import plugin from '@claimcheck/plugin-chat'
import { playScene } from '../../../../test/traps/scripted-life.ts'
import { playTable, requireFacts } from '../../../../test/traps/verifier-table.ts'
import { ALIKE } from './alike.ts'
import { DISCORD } from './discord.ts'
import { MATTERMOST } from './mattermost.ts'
import { OTHER_TEXT, type Row, setOf, TEXT } from './row.ts'
import { SLACK } from './slack.ts'
import { CHANNEL_NAME } from './slack-api.ts'

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: [...SLACK, ...DISCORD, ...MATTERMOST, ...ALIKE],
  play,
  nameOf: ({ provider, title }) => `${provider}: ${title}`,
  check(t, { scene }, lived, { value }) {
    const { life, faults, secret } = lived
    t.strictSame([...new Set(faults)], [], 'answers are as published, and requests as documented')
    t.ok(
      life.requests.every(({ key }) => key.startsWith('GET ')),
      'reads are GET',
    )
    const kept = JSON.stringify([life.records, life.log])
    for (const word of [TEXT, OTHER_TEXT, CHANNEL_NAME, 'nelly', secret])
      t.notOk(kept.includes(word), 'no read keeps what was said, where and by whom in words, nor the token')
    if (value === 'verified') requireFacts(t, lived, scene().facts ?? {})
  },
  // The rules blame an outcome that came and went before the first look, as the receipt says with `largest_gap_ms`.
  isExcused: ({ also = [] }, verdict) => also.some((one) => one === verdict),
})

async function play({ provider, scene: make }: Row) {
  const scene = make()
  const { answer, options, target, secret } = setOf(provider, scene)
  const lived = await playScene(scene, {
    plugin,
    connection: { provider, options },
    action: 'chat.message.post',
    target,
    answer,
  })
  return { ...lived, secret }
}
