#!/bin/sh
# A Slurm array: one task a shard, numbered from 0. Plan first, then
#   sbatch --array=0-99 --export=ALL,RUN=s3://reports/hist/runs/2026-11-22T01-00-00Z,SHARDS=100 slurm.sh
# A task that was killed or failed is submitted again alone: --array=7.
#SBATCH --job-name=hist-fleet-lint
#SBATCH --requeue
exec hist-fleet lint "$RUN" --shard "auto/$SHARDS"
