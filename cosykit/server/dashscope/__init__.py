"""Alibaba's hosted API of CosyVoice, so that clients of DashScope work unchanged.

    run-task ─▶ task-started     continue-task … ─▶ result-generated …, audio
                                 finish-task     ─▶ task-finished, or task-failed

Source: Alibaba Cloud Model Studio, CosyVoice WebSocket API and CosyVoice HTTP API
"""
