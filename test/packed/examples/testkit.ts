/** The plugin beside it, tested with recorded answers. */
import { recorded, runConformance } from '@claimcheck/core/testkit'
import plugin from './plugin.js'

const recording = (status: number) => ({
  version: 1 as const,
  origin: 'https://example.com',
  exchanges: [{ method: 'HEAD', path: '/news', status, headers: {}, body: '' }],
})
const claim = { target: 'https://example.com/news', params: {} }
const { ok, checks } = await runConformance({
  plugin,
  destination: recorded({ before: recording(404), after: recording(200) }),
  before: 'before',
  cases: [
    {
      name: 'published',
      situation: 'after',
      claim,
      absentRoutes: [/news$/],
      sees: { kind: 'present' },
      verdict: 'verified',
    },
    {
      name: 'not published',
      situation: 'before',
      claim,
      absentRoutes: [/news$/],
      sees: { kind: 'absent' },
      verdict: 'failed',
    },
  ],
})
console.log(ok ? `conforms: ${checks.length > 50}` : checks.filter((check) => !check.ok))
