/** A host whose clock is off says so to monitoring. Threat D6 of `security.md`. */
import t from 'tap'
import { Installation } from '../support/installation.ts'

t.test('the metrics say whether listed destinations doubt the clock of the host', async (t) => {
  const installation = await Installation.start({ inProcess: true })
  t.teardown(() => installation.remove())
  const doubted = async () => {
    const response = await fetch(`${installation.url}/metrics`)
    return /^claimcheck_clock_doubted (\d)$/m.exec(await response.text())?.[1]
  }
  const { clockDoubt } = installation.claimcheck
  t.equal(await doubted(), '0')
  clockDoubt.heard('https://a.example', { ahead: { least: 60_000, most: 61_000 }, isUndated: false })
  t.equal(await doubted(), '1')
  clockDoubt.heard('https://b.example', { ahead: { least: -1000, most: 1000 }, isUndated: false })
  t.equal(await doubted(), '0')
})
