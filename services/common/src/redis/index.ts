export { openRedis, type RedisConnection } from './open';
