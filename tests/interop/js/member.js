// A member of a group, or an admin, by kafkajs: member.js member BOOTSTRAP GROUP TOPIC OPTIONS, or member.js admin BOOTSTRAP.
// Its lines are those of tests/interop/member.py.
'use strict'

const { readFileSync } = require('node:fs')
const readline = require('node:readline')
const { Kafka, logLevel } = require('kafkajs')

const say = what => process.stdout.write(JSON.stringify(what) + '\n')

/** Answers calls, one after the other, until the end of stdin. */
async function serve(handlers) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { call, argument } = JSON.parse(line)
    try {
      const result = await handlers[call](argument)
      say({ result: result === undefined ? null : result })
    } catch (refused) {
      say({ error: String(refused) })
    }
  }
}

/** The TLS of a member, or of nobody. */
function secured({ trusted, identity }) {
  if (!trusted) return undefined
  const own = readFileSync(identity)
  return { ca: [readFileSync(trusted)], key: own, cert: own }
}

/** The login of a member, or of nobody. */
const login = ({ mechanism, user, password }) => mechanism ? { mechanism: mechanism.toLowerCase(), username: user, password } : undefined

const client = (bootstrap, options = {}) =>
  new Kafka({ clientId: 'interop', brokers: bootstrap.split(','), ssl: secured(options), sasl: login(options), logLevel: logLevel.ERROR, retry: { initialRetryTime: 50, maxRetryTime: 500 } })

const positions = offsets => Object.entries(offsets).map(([partition, offset]) => ({ partition: Number(partition), offset: String(offset) }))

/** The positions that a group has of a topic, by partition. */
async function committed(admin, groupId, topic) {
  const [{ partitions }] = await admin.fetchOffsets({ groupId, topics: [topic] })
  const there = partitions.filter(({ offset }) => offset !== '-1')
  return Object.fromEntries(there.map(({ partition, offset }) => [partition, Number(offset)]))
}

async function member(bootstrap, groupId, topic, options) {
  const kafka = client(bootstrap, options)
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: options.session_timeout_ms,
    heartbeatInterval: options.heartbeat_interval_ms,
    rebalanceTimeout: 10000,
    maxWaitTimeInMs: 200,
    retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 100 },
  })
  const admin = kafka.admin()
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => say({ owned: [...(payload.memberAssignment[topic] || [])].sort() }))
  consumer.on(consumer.events.REBALANCING, () => say({ owned: [] }))
  await Promise.all([consumer.connect(), admin.connect()])
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ autoCommit: false, eachMessage: async () => {} })
  await serve({
    // A consumer that is just being started again commits nothing, and says nothing: what the coordinator has decides.
    commit: async offsets => {
      await consumer.commitOffsets(positions(offsets).map(position => ({ topic, ...position })))
      const found = await committed(admin, groupId, topic)
      for (const [partition, offset] of Object.entries(offsets)) {
        if (found[partition] !== offset) throw new Error(`committed ${offset} of partition ${partition}, found ${found[partition]}`)
      }
    },
    committed: async partitions => {
      const found = await committed(admin, groupId, topic)
      return Object.fromEntries(partitions.map(partition => [partition, found[partition] === undefined ? null : found[partition]]))
    },
  })
  await Promise.all([consumer.disconnect(), admin.disconnect()])
}

async function administer(bootstrap) {
  const admin = client(bootstrap).admin()
  await admin.connect()
  await serve({
    create_topic: async ([topic, numPartitions]) => {
      if (!(await admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 1 }] }))) throw new Error('already exists')
    },
    partitions_of: async topic => (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length,
    groups: async () => (await admin.listGroups()).groups.map(({ groupId }) => groupId),
    describe: async group => {
      const [{ state, members }] = (await admin.describeGroups([group])).groups
      return [state, members.length]
    },
    committed: ([group, topic]) => committed(admin, group, topic),
    alter: ([groupId, topic, offsets]) => admin.setOffsets({ groupId, topic, partitions: positions(offsets) }),
    delete: group =>
      admin.deleteGroups([group]).catch(refused => {
        throw refused.groups ? refused.groups[0].error : refused
      }),
  })
  await admin.disconnect()
}

const [role, bootstrap, group, topic, options] = process.argv.slice(2)
const life = role === 'admin' ? administer(bootstrap) : member(bootstrap, group, topic, JSON.parse(options))
life.catch(broken => {
  console.error(broken)
  process.exit(1)
})
