// Has drivers written in JavaScript be sent errors: see README.md in the folder above.

import { readFileSync } from 'node:fs'
import mysql from 'mysql2/promise'
import pg from 'pg'

// The lines of the plan for a product, by kind.
function planOf(file, product) {
  const plan = new Map()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [kind, products, code, before, statement] = line.split('\t')
    if (!line.startsWith('#') && products?.split(',').includes(product)) {
      plan.set(kind, { code, before, statement })
    }
  }
  return plan
}

// How the drivers here connect and execute. Of a statement they take all rows.
const drivers = {
  'node-pg': async (login, isEncrypted, isBinary) => {
    const ssl = isEncrypted ? { rejectUnauthorized: false } : false
    const client = new pg.Client({ ...login, ssl })
    await client.connect()
    return {
      setUp: (text) => client.query(text),
      // What has a name is prepared. A name has up to 63 bytes.
      execute: (text) =>
        client.query(isBinary ? { name: text.slice(0, 60), text, binary: true } : text),
      codeOf: (error) => error.code,
      close: () => client.end(),
    }
  },
  mysql2: async (login, isEncrypted, isBinary) => {
    const ssl = isEncrypted ? { rejectUnauthorized: false } : undefined
    const client = await mysql.createConnection({ ...login, ssl })
    return {
      setUp: (text) => client.query(text),
      execute: (text) => (isBinary ? client.execute(text) : client.query(text)),
      codeOf: (error) => String(error.errno),
      close: () => client.end(),
    }
  },
}

async function plant(session, { code, before, statement }, count) {
  if (before !== '-') await session.setUp(before)
  for (; count > 0; count--) {
    let sent = 'no error'
    try {
      await session.execute(statement)
    } catch (error) {
      sent = session.codeOf(error) ?? String(error)
    }
    if (sent !== code) throw new Error(`'${statement}' is answered with ${sent}, not with ${code}`)
  }
  await session.close()
}

async function main([driver, file, address, mode, ...pairs]) {
  const url = new URL(address)
  const plan = planOf(file, url.protocol.slice(0, -1))
  const login = {
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: process.env.DRIVER_PASSWORD,
    database: url.pathname.slice(1),
  }
  const isEncrypted = url.searchParams.get('tls') === 'yes'
  for (let at = 0; at < pairs.length; at += 2) {
    const session = await drivers[driver](login, isEncrypted, mode === 'binary')
    await plant(session, plan.get(pairs[at]), Number(pairs[at + 1]))
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`plant: ${error.message}`)
  process.exit(1)
})
