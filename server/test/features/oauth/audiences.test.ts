/** Audiences of tokens: every name by which clients know this service leads to one audience, whatever else is configured. */
import { createAudiences } from '@claimcheck/server/features/oauth/audiences'
import t from 'tap'

t.test('a configured resource does not take the place of the service or its MCP server', async (t) => {
  const own = 'https://claims.example.com'
  const audiences = createAudiences(own, [`${own}/`, `${own}/mcp/`, 'https://other.example'], { hasMcp: true })
  t.equal(audiences.find(`${own}/`), own)
  t.equal(audiences.find(`${own}/mcp/`), `${own}/mcp`)
  t.equal(audiences.find('https://other.example/'), 'https://other.example')
  t.equal(audiences.find('https://unknown.example'), undefined)
})

t.test('a service at localhost is known by its addresses, by its own scheme', async (t) => {
  for (const scheme of ['http', 'https']) {
    const own = `${scheme}://localhost:8443`
    const audiences = createAudiences(own, [], { hasMcp: true })
    t.equal(audiences.find(`${scheme}://127.0.0.1:8443/mcp`), `${own}/mcp`)
    t.equal(audiences.originAt('[::1]:8443'), `${scheme}://[::1]:8443`)
    t.equal(audiences.originAt('elsewhere.example'), own)
  }
})
